package jsonlines

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/storage/internal/batchtest"
	"github.com/radish-sql/radish/storage/textfile/textfiletest"
)

// Arrays of objects, and objects that follow each other over any number of lines.
func TestValues(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`[{"a":1},{"a":2}]`, "a BIGINT; 1; 2"},
		{"\xef\xbb\xbf[\n {\"a\": 1,\r\n  \"b\": \"x\\\"]}\"},\n\t{\"a\":2, \"b\": \"\\\\\"}\n]\n", `a BIGINT, b TEXT; 1|x"]}; 2|\`},
		{"{\"a\":1}\n{\"a\":2}\n", "a BIGINT; 1; 2"},
		{"{\"a\":\n1}{\"a\":2}  {\"a\":3}", "a BIGINT; 1; 2; 3"},
		{"\n\n[{\"a\":[1,\n{\"b\":2}]}]", `a JSON; [1, {"b":2}]`},
		{`[{"a":1}`, "line 1: the array is not closed"}, {`[{"a":1},]`, "']' stands where an object is expected"}, {"[{\"a\":1}\n{\"a\":2}]", "line 2: '{' stands where a comma or ] is expected"},
		{`[{"a":1}] x`, "text behind the end"}, {`[1,2]`, "'1' stands where an object is expected"}, {`{"a":1},{"a":2}`, "',' stands where an object is expected"}, {"[]", "has no keys"}, {`[{"a":1`, "line 1"},
	} {
		v, err := Read(context.Background(), "d", "t", Values(textfiletest.Source("x", []byte(c.text))))
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: %v, want %s", c.text, err, c.want)
			}
		} else if got := batchtest.Describe(v); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

// What the standard library takes for an array of objects gives as many rows, in either layout.
func FuzzValues(f *testing.F) {
	for _, s := range []string{`[{"a":"\\"},{}]`, `[ {"a":[{}]} ]`, "[{\"a\":\"]\"}\n,{\"b\":null}]", `[{}`, `[,]`, `{}{}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var objects []map[string]any
		v, err := Read(context.Background(), "d", "t", Values(textfiletest.Source("x", text)))
		if json.Unmarshal(text, &objects) != nil || err != nil {
			return
		}
		for _, o := range objects {
			if o == nil {
				return // null among them
			}
		}
		if v.Rows() != int64(len(objects)) {
			t.Fatal(fmt.Sprint(v.Rows(), " rows of ", len(objects)))
		}
	})
}
