package codegen

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Functions that make new strings. A pipeline has memory for them, which stays as long as the query: stored rows, keys and groups point into it. The kernel
// counts the bytes past the capacity, so the host knows how much memory another run needs.

// StringWord is the key of a parameter about the pipeline's memory for strings.
type StringWord int

const (
	StringData     StringWord = iota // its address
	StringCapacity                   // in bytes
	StringUsed                       // address of the counter of the bytes that the strings take
)

// MakesStrings says whether the kernel makes strings.
func (t *Text) MakesStrings() bool {
	_, ok := t.byKey[StringData]
	return ok
}

// stringMemory is the C++ of the memory for strings.
func (t *Text) stringMemory() string {
	return fmt.Sprintf("TextRoom{as_pointer<u8>(%s), (i64)%s, as_pointer<u64>(%s)}",
		t.Param(Param{Key: StringData}), t.Param(Param{Key: StringCapacity}), t.Param(Param{Key: StringUsed}))
}

// making is the C++ of a string that is made where nothing is NULL.
func (t *Text) making(typ types.Type, null, text string) Value {
	if null != "" {
		text = null + " ? view{nullptr, 0} : " + text
	}
	return t.Assign(typ, "%s", text)
}

func emitConcat(t *Text, c *expr.Call, a []Value, null string) (Value, error) {
	if len(a) == 1 {
		v := t.view(a[0])
		return t.Assign(c.Typ, "%s", v.Text), nil
	}
	parts := make([]string, len(a))
	for i, v := range a {
		parts[i] = t.view(v).Text
	}
	return t.making(c.Typ, null, fmt.Sprintf("concat(%s, %s)", t.stringMemory(), strings.Join(parts, ", "))), nil
}

// emitConcatWS makes CONCAT_WS, which leaves NULLs out and is NULL only where the separator is.
func emitConcatWS(t *Text, c *expr.Call, sc *Scope) (Value, error) {
	args, err := t.all(c, sc)
	if err != nil {
		return Value{}, err
	}
	separator := args[0]
	if separator.Null == "true" {
		return NullOf(form.View, c.Typ), nil
	}
	separator = t.view(separator)
	parts := []string{t.stringMemory(), separator.Text}
	for _, v := range args[1:] {
		if v.Null != "true" {
			v = t.view(v)
			parts = append(parts, fmt.Sprintf("TextPart{%s, %s}", v.Text, nullText(v)))
		}
	}
	out := t.making(c.Typ, separator.Null, "concat_ws("+strings.Join(parts, ", ")+")")
	out.Null = separator.Null
	return out, nil
}
