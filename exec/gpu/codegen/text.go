package codegen

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Text is a kernel while it is written: statements, and what its parameters are. Literals and data are words of
// the parameters; the text depends on them by how many bits they need at most. Two kernels of one text differ in their Params alone.
type Text struct {
	// Ctx is what sql/expr's evaluator needs for lookup tables: the statement's time zone, SQL mode and time.
	Ctx     *expr.Context
	Lookups *lookup.Answers
	// Ranges bounds the values of columns; nil: nothing is known of any expression.
	Ranges Ranges

	Params []Param
	byKey  map[any]int

	// Sites are the expressions that can raise an error or a warning; raise and warn name them by their number, from 0.
	Sites []expr.Expr

	strings madeStrings

	body   strings.Builder
	filled map[Gap]string // the text of the body's gaps
	indent int
	names  int
	values int  // that are loaded or computed
	silent bool // nothing is written: see Forms
}

// madeStrings is what a text knows of the strings that it makes.
type madeStrings struct {
	kept       bool // some stay
	passing    bool // some are a condition's alone
	condition  int  // the number of the condition that is being written; 0: none
	conditions int
	here       bool // the condition makes strings
}

// until is the condition behind which a value is gone; 0: it stays.
func (m *madeStrings) until(v Value) int {
	if m.here && v.Class == form.View {
		return m.condition
	}
	return 0
}

// Param says what one 64-bit word of a kernel's parameters is when the kernel is launched.
type Param struct {
	Word  uint64       // a literal, if there are neither table nor key
	Table *lookup.Data // the device address of these bytes, which the launcher uploads
	Key   any          // something comparable by which the launcher knows the word: a column's address, a counter, a capacity
}

// The keys of the words that every kernel may need.
type (
	ErrorWord    struct{} // address of the Error struct
	WarningsWord struct{} // address of a u64 for each site: how many warnings it gave
)

// NewText returns an empty kernel. The first parameter is the address of the Error struct.
func NewText(ctx *expr.Context, lookups *lookup.Answers) *Text {
	t := &Text{Ctx: ctx, Lookups: lookups, Params: make([]Param, 0, 32), byKey: make(map[any]int, 24), filled: map[Gap]string{}, indent: 1}
	t.body.Grow(3 << 10)
	t.Param(Param{Key: ErrorWord{}})
	return t
}

// Param adds a parameter and returns the C++ that reads its word, a u64. One with a key or a table that there is already is shared.
func (t *Text) Param(s Param) string {
	if t.silent {
		return "word"
	}
	var key any = s.Key
	if s.Table != nil {
		key = s.Table
	}
	if key != nil {
		if i, ok := t.byKey[key]; ok {
			return wordText(i)
		}
		t.byKey[key] = len(t.Params)
	}
	t.Params = append(t.Params, s)
	return wordText(len(t.Params) - 1)
}

func wordText(i int) string { return "p.w[" + strconv.Itoa(i) + "]" }

// Literal adds a parameter for a word that is known.
func (t *Text) Literal(w uint64) string { return t.Param(Param{Word: w}) }

// address adds a parameter for the address of bytes and returns C++ of type `const elem*`.
func (t *Text) address(tab *lookup.Data, elem string) string {
	return "as_pointer<const " + elem + ">(" + t.Param(Param{Table: tab}) + ")"
}

// constant makes parameters of a value and returns the C++ that reads it. A NULL is text.
func (t *Text) constant(v types.Value) Value {
	out := Value{Class: form.ClassOf(v.Type), Typ: v.Type}
	if v.Null {
		return NullOf(out.Class, v.Type)
	}
	switch out.Class {
	case form.Float:
		out.Text = "as_f64(" + t.Literal(math.Float64bits(v.F)) + ")"
	case form.Wide:
		low := t.Literal(v.D.Lo)
		out.Text = "as_i128(" + low + ", " + t.Literal(uint64(v.D.Hi)) + ")"
	case form.View:
		data := t.address(&lookup.Data{Bytes: []byte(v.S)}, "u8")
		out.Text = "view{" + data + ", (i64)" + t.Literal(uint64(len(v.S))) + "}"
	default:
		out.Text = "(i64)" + t.Literal(uint64(v.I))
	}
	return out
}

// NullOf is a NULL.
func NullOf(c form.Class, typ types.Type) Value {
	text := "(" + c.CName() + ")0"
	if c == form.View {
		text = "view{nullptr, 0}"
	}
	return Value{Class: c, Typ: typ, Text: text, Null: "true"}
}

// codeOf is the value of a dictionary's code that a C++ text holds.
func codeOf(typ types.Type, text, null string, d *column.Dictionary) Value {
	return Value{Class: form.Code, Typ: typ, Text: text, Null: null, Dict: d}
}

// Line writes a statement, or any one line.
func (t *Text) Line(format string, args ...any) {
	if t.silent {
		return
	}
	for range t.indent {
		t.body.WriteString("  ")
	}
	if len(args) == 0 {
		t.body.WriteString(format)
	} else {
		t.print(format, args)
	}
	t.body.WriteByte('\n')
}

// lineAt is Line, but for where the line stands: where the text had so many bytes.
func (t *Text) lineAt(at int, line string) {
	text := t.body.String()
	t.body.Reset()
	t.body.WriteString(text[:at])
	t.Line("%s", line)
	t.body.WriteString(text[at:])
}

// print is fmt.Fprintf, without its price for the strings and small numbers that most lines are made of.
func (t *Text) print(format string, args []any) {
	for len(args) > 0 && !strings.Contains(format, "%[") {
		i := strings.IndexByte(format, '%')
		if i < 0 || i+1 == len(format) {
			break
		}
		verb := format[i+1]
		text, isText := args[0].(string)
		number, isNumber := args[0].(int)
		switch {
		case isText && verb == 's':
		case isNumber && verb == 'd':
			text = strconv.Itoa(number)
		default:
			fmt.Fprintf(&t.body, format, args...)
			return
		}
		t.body.WriteString(format[:i])
		t.body.WriteString(text)
		format, args = format[i+2:], args[1:]
	}
	if len(args) == 0 && strings.IndexByte(format, '%') < 0 {
		t.body.WriteString(format)
		return
	}
	fmt.Fprintf(&t.body, format, args...)
}

// Open writes a line that begins a block, such as "if (x) {".
func (t *Text) Open(format string, args ...any) {
	t.Line(format, args...)
	t.indent++
}

// Close ends a block: "}".
func (t *Text) Close() {
	t.indent--
	t.Line("}")
}

// Else writes "} else {".
func (t *Text) Else() {
	t.indent--
	t.Line("} else {")
	t.indent++
}

// Name returns a name that the kernel does not have yet; it begins with the prefix.
func (t *Text) Name(prefix string) string {
	if t.silent {
		return prefix
	}
	t.names++
	return prefix + strconv.Itoa(t.names)
}

// Define writes a constant of the value's type and returns the value that reads it. null, if not empty, becomes a constant too.
func (t *Text) Define(v Value, prefix string) Value {
	name := t.Name(prefix)
	t.Line("const %s %s = %s;", v.Class.CName(), name, v.Text)
	v.Text = name
	if v.Null != "" && v.Null != "true" && !isName(v.Null) {
		t.Line("const bool %s_null = %s;", name, v.Null)
		v.Null = name + "_null"
	}
	return v
}

// isName says whether a text is a single name.
func isName(text string) bool { return !strings.ContainsAny(text, " ()[]!&|.<>=") }

// Gap is a position in the text that is filled later.
type Gap string

// Gap leaves a gap for fill.
func (t *Text) Gap() Gap {
	g := Gap("\x00" + strconv.Itoa(t.names) + "\n")
	t.names++
	t.body.WriteString(string(g))
	return g
}

// OpenGap leaves a gap for a line that begins a block.
func (t *Text) OpenGap() Gap {
	g := t.Gap()
	t.indent++
	return g
}

// Fill writes lines into a gap.
func (t *Text) Fill(g Gap, indent int, lines []string) {
	var b strings.Builder
	for _, l := range lines {
		for range indent {
			b.WriteString("  ")
		}
		b.WriteString(l)
		b.WriteByte('\n')
	}
	t.filled[g] = b.String()
}

// Capture returns the lines that f writes.
func (t *Text) Capture(f func()) []string {
	before, indent := t.body.String(), t.indent
	t.body.Reset()
	t.indent = 0
	f()
	text := strings.TrimRight(t.body.String(), "\n")
	t.body.Reset()
	t.body.WriteString(before)
	t.indent = indent
	return strings.Split(text, "\n")
}

// Depth is the number of blocks that are open.
func (t *Text) Depth() int { return t.indent }

// Word adds a parameter that the launcher knows by its key, and returns the C++ that reads it.
func (t *Text) Word(key any) string { return t.Param(Param{Key: key}) }

// Pointer is word for an address of elements of a C++ type.
func (t *Text) Pointer(elem string, key any) string {
	return "as_pointer<" + elem + ">(" + t.Word(key) + ")"
}

// site numbers an expression that can go wrong.
func (t *Text) site(e expr.Expr) int {
	for i, s := range t.Sites {
		if s == e {
			return i
		}
	}
	t.Sites = append(t.Sites, e)
	return len(t.Sites) - 1
}

// ErrorAddress is the address of the Error struct.
func (t *Text) ErrorAddress() string {
	return "as_pointer<Error>(" + t.Param(Param{Key: ErrorWord{}}) + ")"
}

// RaiseIf writes a statement that raises an error where the condition holds: the host then runs the query on the CPU.
func (t *Text) RaiseIf(condition string, code Code, e expr.Expr) {
	if t.silent {
		return
	}
	t.Line("if (%s) raise(%s, %d, %d);", condition, t.ErrorAddress(), code, t.site(e))
}

// warnIf writes a statement that counts a warning of an expression where the condition holds.
func (t *Text) warnIf(condition string, e expr.Expr) {
	if t.silent {
		return
	}
	t.Line("if (%s) warn(as_pointer<u64>(%s), %d);", condition, t.Param(Param{Key: WarningsWord{}}), t.site(e))
}

// Code is what raise stores. The host runs the query again on the CPU whichever it is; the code is for its report.
type Code uint32

const (
	CodeOutOfRange Code = iota + 1 // MySQL's 1690
	CodeOnCPU                      // an error or a warning that only the CPU can word
)

// Source returns the kernel, declared as one of so many words.
func (t *Text) Source(name string, declared int) string {
	var b strings.Builder
	size := t.body.Len() + 64
	for _, text := range t.filled {
		size += len(text)
	}
	b.Grow(size)
	fmt.Fprintf(&b, "RADISH_KERNEL(%s, %d) {\n", name, declared)
	if t.strings.passing {
		b.WriteString("  ConditionStrings condition_strings;\n")
	}
	body := t.body.String()
	for {
		i := strings.IndexByte(body, 0)
		if i < 0 {
			break
		}
		end := i + strings.IndexByte(body[i:], '\n') + 1
		b.WriteString(body[:i])
		b.WriteString(t.filled[Gap(body[i:end])])
		body = body[end:]
	}
	b.WriteString(body)
	b.WriteString("}\n")
	return b.String()
}

// anyNull returns the C++ that says whether one of the values is NULL: a name, "true" or empty.
func (t *Text) anyNull(args []Value) string {
	var names []string
	for _, a := range args {
		switch {
		case a.Null == "true":
			return "true"
		case a.Null != "" && !slices.Contains(names, a.Null):
			names = append(names, a.Null)
		}
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	name := t.Name("n")
	t.Line("const bool %s = %s;", name, strings.Join(names, " | "))
	return name
}

// truthValue defines a BOOL. text is a C++ bool that is true where it is TRUE, and only there; null says where it is NULL.
func (t *Text) truthValue(text, null string) Value {
	name := t.Name("b")
	t.Line("const bool %s = %s;", name, text)
	return Value{Class: form.Int, Typ: types.Bool, Text: "(i64)" + name, truth: name, Null: t.named(null)}
}

// named gives a condition a name unless it is one, or "true", or empty.
func (t *Text) named(text string) string {
	if text == "" || isName(text) {
		return text
	}
	name := t.Name("n")
	t.Line("const bool %s = %s;", name, text)
	return name
}
