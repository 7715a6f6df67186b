package codegen

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Functions of strings whose results are numbers, conditions or parts of their operands. Those that make new strings follow below, and casts to strings are in cast.go; over a
// dictionary any function can be had, since the CPU maps its strings (lookup.go).

// emitString makes a function of strings and integers: format has the operands' C++. {bytes} in it becomes whether a character is a byte.
func emitString(format string) strictEmitter {
	return func(t *Text, c *expr.Call, a []Value, _ string) (Value, error) {
		isBinary := false
		args := make([]any, len(a))
		for i, v := range a {
			if v.Typ.IsString() {
				isBinary = isBinary || v.Typ.IsBinaryString()
				v = t.view(v)
			}
			args[i] = v.Text
		}
		return t.Assign(c.Typ, strings.ReplaceAll(format, "{bytes}", fmt.Sprint(isBinary)), args...), nil
	}
}

func emitSubstring(t *Text, c *expr.Call, a []Value, null string) (Value, error) {
	if len(a) == 2 {
		return emitString("substring<{bytes}>(%s, %s, 1LL << 40)")(t, c, a, null)
	}
	return emitString("substring<{bytes}>(%s, %s, %s)")(t, c, a, null)
}

func emitLocate(t *Text, c *expr.Call, a []Value, null string) (Value, error) {
	if len(a) == 2 {
		return emitString("locate<{bytes}>(%[2]s, %[1]s, 1)")(t, c, a, null)
	}
	return emitString("locate<{bytes}>(%[2]s, %[1]s, %[3]s)")(t, c, a, null)
}

// emitTrim makes TRIM, LTRIM and RTRIM; what is removed is a space unless there is a second operand, and the third is a keyword.
func emitTrim(t *Text, c *expr.Call, a []Value, _ string) (Value, error) {
	left, right := c.Fn.Name != "rtrim", c.Fn.Name != "ltrim"
	if len(a) == 3 {
		k, ok := c.Args[2].(*expr.Const)
		if !ok {
			return Value{}, Refuse("%s runs on the CPU only", c)
		}
		direction := strings.ToUpper(k.Value.S)
		left, right = direction != "TRAILING", direction != "LEADING"
	}
	cut := "view{" + t.address(&lookup.Data{Bytes: []byte(" ")}, "u8") + ", 1}"
	if len(a) > 1 {
		cut = t.view(a[1]).Text
	}
	return t.Assign(c.Typ, "trim(%s, %s, %v, %v)", t.view(a[0]).Text, cut, left, right), nil
}

// emitLike makes LIKE with a constant pattern. The pattern's structure is in the text, its literals are parameters.
func emitLike(t *Text, c *expr.Call, a []Value, null string) (Value, error) {
	p, ok := t.Ctx.LikePattern(c)
	if !ok {
		return Value{}, Refuse("LIKE with a pattern that is not constant runs on the CPU only")
	}
	s := t.view(a[0])
	if p.Tokens != nil {
		return t.truthValue(t.likeTokens(s.Text, p)+NotNull(null), null), nil
	}
	segments := p.Segments
	literal := func(s string) string {
		return "view{" + t.address(&lookup.Data{Bytes: []byte(s)}, "u8") + ", (i64)" + t.Literal(uint64(len(s))) + "}"
	}
	if len(segments) == 1 {
		name := "contains"
		switch {
		case p.HasPrefix && p.HasSuffix:
			name = "equal_views"
		case p.HasPrefix:
			name = "starts_with"
		case p.HasSuffix:
			name = "ends_with"
		}
		return t.truthValue(fmt.Sprintf("%s(%s, %s)%s", name, s.Text, literal(segments[0]), NotNull(null)), null), nil
	}
	// What is left of the text after each segment.
	rest, matched := t.Name("s"), t.Name("b")
	t.Line("view %s = %s;", rest, s.Text)
	t.Line("bool %s = true%s;", matched, NotNull(null))
	if p.HasPrefix {
		size := t.Literal(uint64(len(segments[0])))
		t.Line("if (%s) {", matched)
		t.Line("  %s = starts_with(%s, view{%s, (i64)%s});", matched, rest, t.address(&lookup.Data{Bytes: []byte(segments[0])}, "u8"), size)
		t.Line("  if (%s) %s = without_front(%s, (i64)%s);", matched, rest, rest, size)
		t.Line("}")
		segments = segments[1:]
	}
	if p.HasSuffix {
		last := segments[len(segments)-1]
		size := t.Literal(uint64(len(last)))
		t.Line("if (%s) {", matched)
		t.Line("  %s = ends_with(%s, view{%s, (i64)%s});", matched, rest, t.address(&lookup.Data{Bytes: []byte(last)}, "u8"), size)
		t.Line("  if (%s) %s = without_back(%s, (i64)%s);", matched, rest, rest, size)
		t.Line("}")
		segments = segments[:len(segments)-1]
	}
	for ; len(segments) > 2; segments = segments[1:] {
		t.Line("%s = %s && skip_past(%s, %s);", matched, matched, rest, literal(segments[0]))
	}
	switch len(segments) {
	case 1:
		t.Line("%s = %s && contains(%s, %s);", matched, matched, rest, literal(segments[0]))
	case 2:
		t.Line("%s = %s && contains_both(%s, %s, %s);", matched, matched, rest, literal(segments[0]), literal(segments[1]))
	}
	return Value{Class: form.Int, Typ: c.Typ, Text: "(i64)" + matched, truth: matched}, nil
}

// likeTokens calls the general matcher.
func (t *Text) likeTokens(s string, p expr.LikePattern) string {
	var tokens, text []byte
	put := func(size, offset int) {
		tokens = binary.LittleEndian.AppendUint32(tokens, uint32(int32(size)))
		tokens = binary.LittleEndian.AppendUint32(tokens, uint32(offset))
	}
	for _, k := range p.Tokens {
		switch {
		case k.IsAny:
			put(-1, 0)
		case k.IsOne:
			put(-2, 0)
		default:
			put(len(k.Literal), len(text))
			text = append(text, k.Literal...)
		}
	}
	count := t.Literal(uint64(len(p.Tokens)))
	return fmt.Sprintf("like_tokens<%v>(%s, %s, (i64)%s, %s)", p.ByBytes, s, t.address(&lookup.Data{Bytes: tokens}, "LikeToken"), count,
		t.address(&lookup.Data{Bytes: text}, "u8"))
}

// all evaluates the operands of a function that looks at their NULLs itself.
func (t *Text) all(c *expr.Call, sc *Scope) ([]Value, error) {
	args := make([]Value, len(c.Args))
	for i, a := range c.Args {
		var err error
		if args[i], err = t.Emit(a, sc); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// emitElt makes ELT(n, a, b, ...), the n-th text.
func emitElt(t *Text, c *expr.Call, sc *Scope) (Value, error) {
	args, err := t.all(c, sc)
	if err != nil {
		return Value{}, err
	}
	if args[0].Null == "true" {
		return NullOf(form.View, c.Typ), nil
	}
	out := t.result(c.Typ)
	out.Null = out.Text + "_null"
	t.Line("%s = view{nullptr, 0};", out.Text)
	t.Line("bool %s = true;", out.Null)
	for k, v := range args[1:] {
		if v.Null == "true" {
			continue
		}
		v = t.view(v)
		t.Open("if (%s == %d) {", args[0].Text, k+1)
		t.Line("%s = %s;", out.Text, v.Text)
		t.Line("%s = %s;", out.Null, orText(args[0].Null, nullText(v)))
		t.Close()
	}
	return out, nil
}

// emitField makes FIELD(x, a, b, ...), the position of x among the operands behind it.
func emitField(t *Text, c *expr.Call, sc *Scope) (Value, error) {
	args, err := t.all(c, sc)
	if err != nil {
		return Value{}, err
	}
	x := args[0]
	out := t.result(c.Typ)
	t.Line("%s = 0;", out.Text)
	for k := len(args) - 1; k > 0 && x.Null != "true"; k-- {
		if args[k].Null == "true" {
			continue
		}
		equal, err := t.comparison(expr.EQ, x, args[k])
		if err != nil {
			return Value{}, err
		}
		t.Line("if (%s%s%s) %s = %d;", equal, NotNull(x.Null), NotNull(args[k].Null), out.Text, k)
	}
	return out, nil
}

// Functions that make new strings. A pipeline has memory for them, which stays as long as the query: stored rows, keys and groups point into it. The kernel
// counts the bytes past the capacity, so the host knows how much memory another run needs. Strings that only a condition reads lie in memory of the thread.

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

// KeepsStrings says whether it makes strings that more than a condition reads.
func (t *Text) KeepsStrings() bool { return t.strings.kept }

// stringMemory is the C++ of the memory for strings.
func (t *Text) stringMemory() string {
	memory := fmt.Sprintf("StringMemory{as_pointer<u8>(%s), (i64)%s, as_pointer<u64>(%s)}",
		t.Param(Param{Key: StringData}), t.Param(Param{Key: StringCapacity}), t.Param(Param{Key: StringUsed}))
	if t.strings.condition == 0 {
		t.strings.kept = true
		return memory
	}
	t.strings.passing, t.strings.here = true, true
	return "ConditionMemory{&condition_strings, " + memory + "}"
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
			parts = append(parts, fmt.Sprintf("StringPart{%s, %s}", v.Text, nullText(v)))
		}
	}
	out := t.making(c.Typ, separator.Null, "concat_ws("+strings.Join(parts, ", ")+")")
	out.Null = separator.Null
	return out, nil
}
