package sqllogic

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Format writes a value as a script shows it in a column of the given type. I is an integer, what follows the
// decimal point cut off. R has three digits after the point. T is text, where an empty string is "(empty)" and a
// byte outside printable ASCII is "@". NULL is "NULL" in every column.
func Format(typ byte, v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case int64:
		if typ == 'R' {
			return strconv.FormatFloat(float64(v), 'f', 3, 64)
		}
		return strconv.FormatInt(v, 10)
	case uint64:
		if typ == 'R' {
			return strconv.FormatFloat(float64(v), 'f', 3, 64)
		}
		return strconv.FormatUint(v, 10)
	case float64:
		return formatFloat(typ, v)
	case float32:
		return formatFloat(typ, float64(v))
	case bool:
		if v {
			return Format(typ, int64(1))
		}
		return Format(typ, int64(0))
	case []byte:
		return formatText(typ, string(v))
	case string:
		return formatText(typ, v)
	case time.Time:
		return v.Format("2006-01-02 15:04:05.999999")
	default:
		return formatText(typ, fmt.Sprint(v))
	}
}

func formatFloat(typ byte, v float64) string {
	switch typ {
	case 'I':
		return strconv.FormatFloat(math.Trunc(v), 'f', 0, 64)
	case 'R':
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func formatText(typ byte, s string) string {
	switch typ {
	case 'I':
		if _, err := strconv.ParseInt(s, 10, 64); err == nil {
			return s
		}
		whole, _, _ := strings.Cut(s, ".")
		if whole == "" || whole == "-" {
			whole += "0"
		}
		// C's atoi is the rule for text in an integer column: the leading digits, or 0.
		end := 0
		for end < len(whole) && (whole[end] >= '0' && whole[end] <= '9' || end == 0 && whole[end] == '-') {
			end++
		}
		if end == 0 || whole[:end] == "-" || whole[:end] == "-0" {
			return "0"
		}
		return whole[:end]
	case 'R':
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			f = 0
		}
		return strconv.FormatFloat(f, 'f', 3, 64)
	}
	if s == "" {
		return "(empty)"
	}
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = s[i] >= ' ' && s[i] <= '~'
	}
	if clean {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if c < ' ' || c > '~' {
			b[i] = '@'
		}
	}
	return string(b)
}

// sortValues orders values in place as the sort mode asks; columns is the length of a row.
func sortValues(values []string, mode SortMode, columns int) []string {
	switch mode {
	case ValueSort:
		slices.Sort(values)
	case RowSort:
		if columns <= 1 {
			slices.Sort(values)
			return values
		}
		rows := make([][]string, 0, len(values)/columns)
		for i := 0; i+columns <= len(values); i += columns {
			rows = append(rows, values[i:i+columns])
		}
		slices.SortStableFunc(rows, slices.Compare[[]string])
		values = slices.Concat(rows...)
	}
	return values
}

// hashValues is the MD5 that a script gives in place of many values: each value followed by a newline.
func hashValues(values []string) string {
	h := md5.New()
	for _, v := range values {
		h.Write([]byte(v))
		h.Write([]byte{'\n'})
	}
	return hex.EncodeToString(h.Sum(nil))
}
