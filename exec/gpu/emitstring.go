package gpu

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
)

// Functions of texts whose results are numbers, conditions or parts of their operands. Those that make new texts stand in emittext.go; over a dictionary
// any function can be had, since the CPU maps its strings (lookup.go).

// view returns a text as an address and a length, looking codes up in their dictionary.
func (t *kernelText) view(v value) value {
	if v.class != form.Code {
		return v
	}
	if v.null == "true" || v.dict == nil {
		return nullOf(form.View, v.typ)
	}
	data, offsets := t.lookups.strings(v.dict)
	out := v
	out.class, out.dict = form.View, nil
	out.text = fmt.Sprintf("dictionary_string(%s, %s, %s)", t.address(data, "u8"), t.address(offsets, "i64"), v.text)
	return t.define(out, "s")
}

// emitText makes a function of texts and integers: format has the operands' C++. {bytes} in it becomes whether a character is a byte.
func emitText(format string) strictEmitter {
	return func(t *kernelText, c *expr.Call, a []value, _ string) (value, error) {
		binary := false
		args := make([]any, len(a))
		for i, v := range a {
			if v.typ.IsString() {
				binary = binary || v.typ.IsBinaryString()
				v = t.view(v)
			}
			args[i] = v.text
		}
		return t.assign(c.Typ, strings.ReplaceAll(format, "{bytes}", fmt.Sprint(binary)), args...), nil
	}
}

func emitSubstring(t *kernelText, c *expr.Call, a []value, null string) (value, error) {
	if len(a) == 2 {
		return emitText("substring<{bytes}>(%s, %s, 1LL << 40)")(t, c, a, null)
	}
	return emitText("substring<{bytes}>(%s, %s, %s)")(t, c, a, null)
}

func emitLocate(t *kernelText, c *expr.Call, a []value, null string) (value, error) {
	if len(a) == 2 {
		return emitText("locate<{bytes}>(%[2]s, %[1]s, 1)")(t, c, a, null)
	}
	return emitText("locate<{bytes}>(%[2]s, %[1]s, %[3]s)")(t, c, a, null)
}

// emitTrim makes TRIM, LTRIM and RTRIM; what is removed is a space unless there is a second operand, and the third is a keyword.
func emitTrim(t *kernelText, c *expr.Call, a []value, _ string) (value, error) {
	left, right := c.Fn.Name != "rtrim", c.Fn.Name != "ltrim"
	if len(a) == 3 {
		k, ok := c.Args[2].(*expr.Const)
		if !ok {
			return value{}, refuse("%s runs on the CPU only", c)
		}
		direction := strings.ToUpper(k.Value.S)
		left, right = direction != "TRAILING", direction != "LEADING"
	}
	cut := "view{" + t.address(&table{data: []byte(" ")}, "u8") + ", 1}"
	if len(a) > 1 {
		cut = t.view(a[1]).text
	}
	return t.assign(c.Typ, "trim(%s, %s, %v, %v)", t.view(a[0]).text, cut, left, right), nil
}

// emitLike makes LIKE with a constant pattern. The pattern's structure is in the text, its literals are parameters.
func emitLike(t *kernelText, c *expr.Call, a []value, null string) (value, error) {
	p, ok := t.ctx.LikePattern(c)
	if !ok {
		return value{}, refuse("LIKE with a pattern that is not constant runs on the CPU only")
	}
	s := t.view(a[0])
	if p.Tokens != nil {
		return t.truthValue(t.likeTokens(s.text, p)+notNull(null), null), nil
	}
	segments := p.Segments
	literal := func(s string) string {
		return "view{" + t.address(&table{data: []byte(s)}, "u8") + ", (i64)" + t.literal(uint64(len(s))) + "}"
	}
	if len(segments) == 1 {
		name := "contains"
		switch {
		case p.Prefix && p.Suffix:
			name = "equal_views"
		case p.Prefix:
			name = "starts_with"
		case p.Suffix:
			name = "ends_with"
		}
		return t.truthValue(fmt.Sprintf("%s(%s, %s)%s", name, s.text, literal(segments[0]), notNull(null)), null), nil
	}
	// What is left of the text after each segment.
	rest, matched := t.name("s"), t.name("b")
	t.line("view %s = %s;", rest, s.text)
	t.line("bool %s = true%s;", matched, notNull(null))
	if p.Prefix {
		size := t.literal(uint64(len(segments[0])))
		t.line("if (%s) {", matched)
		t.line("  %s = starts_with(%s, view{%s, (i64)%s});", matched, rest, t.address(&table{data: []byte(segments[0])}, "u8"), size)
		t.line("  if (%s) %s = without_front(%s, (i64)%s);", matched, rest, rest, size)
		t.line("}")
		segments = segments[1:]
	}
	if p.Suffix {
		last := segments[len(segments)-1]
		size := t.literal(uint64(len(last)))
		t.line("if (%s) {", matched)
		t.line("  %s = ends_with(%s, view{%s, (i64)%s});", matched, rest, t.address(&table{data: []byte(last)}, "u8"), size)
		t.line("  if (%s) %s = without_back(%s, (i64)%s);", matched, rest, rest, size)
		t.line("}")
		segments = segments[:len(segments)-1]
	}
	for ; len(segments) > 2; segments = segments[1:] {
		t.line("%s = %s && skip_past(%s, %s);", matched, matched, rest, literal(segments[0]))
	}
	switch len(segments) {
	case 1:
		t.line("%s = %s && contains(%s, %s);", matched, matched, rest, literal(segments[0]))
	case 2:
		t.line("%s = %s && contains_both(%s, %s, %s);", matched, matched, rest, literal(segments[0]), literal(segments[1]))
	}
	return value{class: form.Int, typ: c.Typ, text: "(i64)" + matched, truth: matched}, nil
}

// likeTokens calls the general matcher.
func (t *kernelText) likeTokens(s string, p expr.LikePattern) string {
	var tokens, text []byte
	put := func(size, offset int) {
		tokens = binary.LittleEndian.AppendUint32(tokens, uint32(int32(size)))
		tokens = binary.LittleEndian.AppendUint32(tokens, uint32(offset))
	}
	for _, k := range p.Tokens {
		switch {
		case k.Any:
			put(-1, 0)
		case k.One:
			put(-2, 0)
		default:
			put(len(k.Literal), len(text))
			text = append(text, k.Literal...)
		}
	}
	count := t.literal(uint64(len(p.Tokens)))
	return fmt.Sprintf("like_tokens<%v>(%s, %s, (i64)%s, %s)", p.Bytes, s, t.address(&table{data: tokens}, "LikeToken"), count,
		t.address(&table{data: text}, "u8"))
}

// all evaluates the operands of a function that looks at their NULLs itself.
func (t *kernelText) all(c *expr.Call, sc *scope) ([]value, error) {
	args := make([]value, len(c.Args))
	for i, a := range c.Args {
		var err error
		if args[i], err = t.emit(a, sc); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// emitElt makes ELT(n, a, b, ...), the n-th text.
func emitElt(t *kernelText, c *expr.Call, sc *scope) (value, error) {
	args, err := t.all(c, sc)
	if err != nil {
		return value{}, err
	}
	if args[0].null == "true" {
		return nullOf(form.View, c.Typ), nil
	}
	out := t.result(c.Typ)
	out.null = out.text + "_null"
	t.line("%s = view{nullptr, 0};", out.text)
	t.line("bool %s = true;", out.null)
	for k, v := range args[1:] {
		if v.null == "true" {
			continue
		}
		v = t.view(v)
		t.open("if (%s == %d) {", args[0].text, k+1)
		t.line("%s = %s;", out.text, v.text)
		t.line("%s = %s;", out.null, orText(args[0].null, nullText(v)))
		t.close()
	}
	return out, nil
}

// emitField makes FIELD(x, a, b, ...), the place of x among the operands behind it.
func emitField(t *kernelText, c *expr.Call, sc *scope) (value, error) {
	args, err := t.all(c, sc)
	if err != nil {
		return value{}, err
	}
	x := args[0]
	out := t.result(c.Typ)
	t.line("%s = 0;", out.text)
	for k := len(args) - 1; k > 0 && x.null != "true"; k-- {
		if args[k].null == "true" {
			continue
		}
		equal, err := t.comparison(expr.EQ, x, args[k])
		if err != nil {
			return value{}, err
		}
		t.line("if (%s%s%s) %s = %d;", equal, notNull(x.null), notNull(args[k].null), out.text, k)
	}
	return out, nil
}
