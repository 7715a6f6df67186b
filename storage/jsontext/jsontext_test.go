package jsontext_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/jsontext"
)

// Intervals are written as DuckDB casts them to VARCHAR.
func TestAppendInterval(t *testing.T) {
	for _, tc := range []struct {
		months, days, micros int64
		want                 string
	}{
		{0, 0, 0, "00:00:00"},
		{14, 3, 4_500_000, "1 year 2 months 3 days 00:00:04.5"},
		{-14, 0, -3_000_000, "-1 year -2 months -00:00:03"},
		{1, 1, 0, "1 month 1 day"},
		{24, -1, 1, "2 years -1 day 00:00:00.000001"},
		{0, 0, 360_000_000_000, "100:00:00"},
		{0, 0, math.MinInt64, "-2562047788:00:54.775808"},
	} {
		if got := string(jsontext.AppendInterval(nil, tc.months, tc.days, tc.micros)); got != tc.want {
			t.Errorf("%d %d %d: %s, want %s", tc.months, tc.days, tc.micros, got, tc.want)
		}
	}
}

// Each kind of leaf has the form that other programs read again.
func TestAppend(t *testing.T) {
	for want, d := range map[string]encoding.Data{
		"true":                            {Type: types.Bool, Ints: []int64{1}},
		"18446744073709551615":            {Type: types.Uint64, Ints: []int64{-1}},
		"1.0":                             {Type: types.Double, Floats: []float64{1}},
		"1e-07":                           {Type: types.Double, Floats: []float64{1e-7}},
		"0.1":                             {Type: types.Float, Floats: []float64{float64(float32(0.1))}},
		`"Infinity"`:                      {Type: types.Double, Floats: []float64{math.Inf(1)}},
		"-0.05":                           {Type: types.Decimal(5, 2), Ints: []int64{-5}},
		`"2001-02-03 04:05:06.5"`:         {Type: types.Type{Kind: types.KindDatetime, Scale: 6}, Ints: []int64{981173106_500000}},
		`"2001-02-03 04:05:06+00:00"`:     {Type: types.Type{Kind: types.KindTimestamp, Scale: 6}, Ints: []int64{981173106_000000}},
		`"base64:type252:AP8="`:           {Type: types.Blob, Strings: []string{"\x00\xff"}},
		`"a \"quoted\" \\ line\n\u0001ß"`: {Type: types.Text, Strings: []string{"a \"quoted\" \\ line\n\x01ß"}},
	} {
		d.Rows = 1
		if got := string(jsontext.Append(nil, &d, 0)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if err := jsontext.CheckValues(&encoding.Data{Type: types.Text, Rows: 1, Strings: []string{"\xff"}}); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Error(err)
	}
}

// Documents ask for their memory before they take much, and the error ends them.
func TestRowsAsk(t *testing.T) {
	full := errors.New("full")
	asked := int64(0)
	rows := jsontext.NewRows(1, func(bytes int64) error {
		if asked += bytes; asked > 1<<20 {
			return full
		}
		return nil
	})
	n := 0
	for ; rows.Check() == nil; n++ {
		rows.Bytes = append(rows.Bytes, "null,"...)
	}
	if !errors.Is(rows.End(), full) || len(rows.Bytes) > 2<<20 || n < 1000 {
		t.Errorf("%v after %d values, %d bytes", rows.End(), n, len(rows.Bytes))
	}
}

// Strings of all lengths, with any byte at any place, are what encoding/json reads; control characters and DEL are never written as they are.
func TestAppendString(t *testing.T) {
	const seed = 20
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	parts := []string{`"`, `\`, "\n", "\t", "\x00", "\x1f", "\x7f", "\x80", "\xff", "ü", "漢", "😀", " ", "!", "~", "]"}
	for range 100_000 {
		s := strings.Repeat("plain text ", 4)[:rng.IntN(40)]
		for range rng.IntN(4) {
			at := rng.IntN(len(s) + 1)
			s = s[:at] + parts[rng.IntN(len(parts))] + s[at:]
		}
		text := jsontext.AppendString([]byte("["), s)[1:]
		var got string
		if err := json.Unmarshal(text, &got); err != nil || got != string([]rune(s)) {
			t.Fatalf("%q became %s, which is %q: %v", s, text, got, err)
		}
		if bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Fatalf("%q became %q", s, text)
		}
	}
}
