package gpu

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// kernelText is a kernel while it is written: statements, and what its parameters are. Literals and data are words of
// the parameters; the text depends on them by how many bits they need at most. Two kernels of one text differ in their paramSources alone.
type kernelText struct {
	// ctx is what sql/expr's evaluator needs for lookup tables: the statement's time zone, SQL mode and time.
	ctx     *expr.Context
	lookups *lookupCache
	// within bounds an expression's values, if that is known; nil: nothing is.
	within func(expr.Expr) (form.Interval, bool)

	params []paramSource
	byKey  map[any]int

	// sites are the expressions that can raise an error or a warning; raise and warn name them by their number, from 0.
	sites []expr.Expr

	body   strings.Builder
	filled map[slot]string // what stands in the body's slots
	indent int
	names  int
}

// paramSource says what one 64-bit word of a kernel's parameters is when the kernel is launched.
type paramSource struct {
	word  uint64 // a literal, if there are neither table nor key
	table *table // the device address of these bytes, which the launcher uploads
	key   any    // something comparable by which the launcher knows the word: a column's address, a counter, a capacity
}

// table is bytes that a kernel reads: a lookup table, the members of an IN list, a string. It never changes; one that is kept is
// the same pointer each time that the query runs, so that a copy on the device may be kept as well.
type table struct {
	data []byte
	kept bool
}

// The keys of the words that every kernel may need.
type (
	errorWord    struct{} // address of the Error struct
	warningsWord struct{} // address of a u64 for each site: how many warnings it gave
)

// newKernelText returns an empty kernel. The first parameter is the address of the Error struct.
func newKernelText(ctx *expr.Context, lookups *lookupCache) *kernelText {
	t := &kernelText{ctx: ctx, lookups: lookups, params: make([]paramSource, 0, 32), byKey: make(map[any]int, 24), filled: map[slot]string{}, indent: 1}
	t.body.Grow(3 << 10)
	t.param(paramSource{key: errorWord{}})
	return t
}

// param adds a parameter and returns the C++ that reads its word, a u64. One with a key or a table that there is already is shared.
func (t *kernelText) param(s paramSource) string {
	var key any = s.key
	if s.table != nil {
		key = s.table
	}
	if key != nil {
		if i, ok := t.byKey[key]; ok {
			return wordText(i)
		}
		t.byKey[key] = len(t.params)
	}
	t.params = append(t.params, s)
	return wordText(len(t.params) - 1)
}

func wordText(i int) string { return "p.w[" + strconv.Itoa(i) + "]" }

// literal adds a parameter for a word that is known.
func (t *kernelText) literal(w uint64) string { return t.param(paramSource{word: w}) }

// address adds a parameter for the address of bytes and returns C++ of type `const elem*`.
func (t *kernelText) address(tab *table, elem string) string {
	return "as_pointer<const " + elem + ">(" + t.param(paramSource{table: tab}) + ")"
}

// constant makes parameters of a value and returns the C++ that reads it. A NULL is text.
func (t *kernelText) constant(v types.Value) value {
	out := value{class: form.ClassOf(v.Type), typ: v.Type}
	if v.Null {
		return nullOf(out.class, v.Type)
	}
	switch out.class {
	case form.Float:
		out.text = "as_f64(" + t.literal(math.Float64bits(v.F)) + ")"
	case form.Wide:
		low := t.literal(v.D.Lo)
		out.text = "as_i128(" + low + ", " + t.literal(uint64(v.D.Hi)) + ")"
	case form.View:
		data := t.address(&table{data: []byte(v.S)}, "u8")
		out.text = "view{" + data + ", (i64)" + t.literal(uint64(len(v.S))) + "}"
	default:
		out.text = "(i64)" + t.literal(uint64(v.I))
	}
	return out
}

// nullOf is a NULL.
func nullOf(c form.Class, typ types.Type) value {
	text := "(" + c.CName() + ")0"
	if c == form.View {
		text = "view{nullptr, 0}"
	}
	return value{class: c, typ: typ, text: text, null: "true"}
}

// codeOf is the value of a dictionary's code that a C++ text holds.
func codeOf(typ types.Type, text, null string, d *column.Dictionary) value {
	return value{class: form.Code, typ: typ, text: text, null: null, dict: d}
}

// line writes a statement, or any one line.
func (t *kernelText) line(format string, args ...any) {
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

// print is fmt.Fprintf, without its price for the strings and small numbers that most lines are made of.
func (t *kernelText) print(format string, args []any) {
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

// open writes a line that begins a block, such as "if (x) {".
func (t *kernelText) open(format string, args ...any) {
	t.line(format, args...)
	t.indent++
}

// close ends a block: "}".
func (t *kernelText) close() {
	t.indent--
	t.line("}")
}

// otherwise writes "} else {".
func (t *kernelText) otherwise() {
	t.indent--
	t.line("} else {")
	t.indent++
}

// name returns a name that the kernel does not have yet; it begins with the prefix.
func (t *kernelText) name(prefix string) string {
	t.names++
	return prefix + strconv.Itoa(t.names)
}

// define writes a constant of the value's type and returns the value that reads it. null, if not empty, becomes a constant too.
func (t *kernelText) define(v value, prefix string) value {
	name := t.name(prefix)
	t.line("const %s %s = %s;", v.class.CName(), name, v.text)
	v.text = name
	if v.null != "" && v.null != "true" && !isName(v.null) {
		t.line("const bool %s_null = %s;", name, v.null)
		v.null = name + "_null"
	}
	return v
}

// isName says whether a text is a single name.
func isName(text string) bool { return !strings.ContainsAny(text, " ()[]!&|.<>=") }

// site numbers an expression that can go wrong.
func (t *kernelText) site(e expr.Expr) int {
	for i, s := range t.sites {
		if s == e {
			return i
		}
	}
	t.sites = append(t.sites, e)
	return len(t.sites) - 1
}

// error is the address of the Error struct.
func (t *kernelText) error() string {
	return "as_pointer<Error>(" + t.param(paramSource{key: errorWord{}}) + ")"
}

// raiseIf writes a statement that raises an error where the condition holds: the host then runs the query on the CPU.
func (t *kernelText) raiseIf(condition string, code errorCode, e expr.Expr) {
	t.line("if (%s) raise(%s, %d, %d);", condition, t.error(), code, t.site(e))
}

// warnIf writes a statement that counts a warning of an expression where the condition holds.
func (t *kernelText) warnIf(condition string, e expr.Expr) {
	t.line("if (%s) warn(as_pointer<u64>(%s), %d);", condition, t.param(paramSource{key: warningsWord{}}), t.site(e))
}

// errorCode is what raise stores. The host runs the query again on the CPU whichever it is; the code is for its report.
type errorCode uint32

const (
	errOutOfRange errorCode = iota + 1 // MySQL's 1690
	errOnCPU                           // an error or a warning that only the CPU can word
	errLimit                           // something was not large enough
)

// source returns the kernel.
func (t *kernelText) source(name string) string {
	var b strings.Builder
	size := t.body.Len() + 64
	for _, text := range t.filled {
		size += len(text)
	}
	b.Grow(size)
	fmt.Fprintf(&b, "RADISH_KERNEL(%s, %d) {\n", name, len(t.params))
	body := t.body.String()
	for {
		i := strings.IndexByte(body, 0)
		if i < 0 {
			break
		}
		end := i + strings.IndexByte(body[i:], '\n') + 1
		b.WriteString(body[:i])
		b.WriteString(t.filled[slot(body[i:end])])
		body = body[end:]
	}
	b.WriteString(body)
	b.WriteString("}\n")
	return b.String()
}
