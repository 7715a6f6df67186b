package expr

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Functions that know collations. Statements cannot name them: they stand where a collation other than by bytes decides. The
// collation is an operand, its name.

var (
	// collate is `s COLLATE c`: its type has the collation, its values are those of s.
	collate = &Function{Name: "collate", ByDictionary: true, Eval: StringKernel(AsItIs), Total: Always,
		Spelling: Spelling{Format: func(p *Printer, c *Call) {
			p.Term(c.Args[0])
			p.Text(" COLLATE ", c.Typ.Collation.String())
		}}}
	// collationKey is the key by whose bytes a string compares.
	collationKey = &Function{Name: "collation_key", ByDictionary: true, Total: Always,
		Eval: collatedString(types.Collation.AppendKey),
		Spelling: Spelling{Format: func(p *Printer, c *Call) {
			p.Text("WEIGHT_STRING(")
			p.Term(c.Args[0])
			p.Text(" COLLATE ", c.Args[1].(*Const).Value.S, ")")
		}}}
	// collationPair is the key of a string and then the string: the smallest and largest pairs hold the smallest and largest string.
	collationPair = &Function{Name: "collation_pair", ByDictionary: true, Total: Always, Eval: collatedString(appendPair)}
	// collationValue is the string of a pair.
	collationValue = &Function{Name: "collation_value", ByDictionary: true, Total: Always,
		Eval: StringKernel(func(_ *Context, s string) (string, error) { return valueOfPair(s), nil })}
	// foldChars replaces each character by one that stands for all that are equal to it.
	foldChars = &Function{Name: "collation_fold", ByDictionary: true, Total: Always,
		Eval: collatedString(types.Collation.AppendFolded)}
	// foldPattern is foldChars for a LIKE pattern. Its operands are the pattern, the collation, and the escape character or ''.
	foldPattern = &Function{Name: "collation_fold_pattern", ByDictionary: true, Total: Always, Eval: evalFoldPattern}

	greatestUnder = &Function{Name: "collation_greatest", ByDictionary: true, Total: Always, Eval: extremeUnder(1), CollationOf: butLast}
	leastUnder    = &Function{Name: "collation_least", ByDictionary: true, Total: Always, Eval: extremeUnder(-1), CollationOf: butLast}
)

func Always(*Call) bool { return true }

// InternalCall builds a call of one of these functions over strings.
func InternalCall(fn *Function, result types.Type, args ...Expr) *Call {
	return &Call{Fn: fn, Args: args, Typ: result, Null: anyNullable(args)}
}

// AsString is an operand cast to a string.
func AsString(e Expr) Expr {
	if e.Type().IsString() {
		return e
	}
	return NewCast(e, StringType(e.Type()))
}

func AsStrings(args []Expr) []Expr {
	out := make([]Expr, len(args))
	for i, e := range args {
		out[i] = AsString(e)
	}
	return out
}

// collatedString makes the kernel of a function of a string and a collation.
func collatedString(f func(c types.Collation, dst []byte, s string) []byte) Kernel {
	return func(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		s, under := Strings(args[0]), CollationOperand(args[1])
		for _, i := range Positions(sel, n) {
			x := s.At(int(i))
			if len(x) > arenaString {
				if err := c.longCollated(under, f, &out.Str[i], x); err != nil {
					return err
				}
				continue
			}
			b, err := c.Reserve(2*len(x) + 8)
			if err != nil {
				return err
			}
			if out.Str[i], err = c.Commit(f(under, b, x)); err != nil {
				return err
			}
		}
		return nil
	}
}

// longCollated stores what f makes of a long string. It makes it while the memory that this takes on the way is counted, too.
func (c *Context) longCollated(under types.Collation, f func(c types.Collation, dst []byte, s string) []byte, out *string, s string) error {
	var key []byte
	err := c.Scratch(under.KeyScratch(len(s)), func() error {
		key = slices.Clip(f(under, nil, s))
		return nil
	})
	if err != nil {
		return err
	}
	*out = unsafe.String(unsafe.SliceData(key), len(key))
	return c.Hold(len(key))
}

func CollationOperand(v *column.Vector) types.Collation {
	c, _ := types.CollationByName(v.StringAt(0))
	return c
}

// ExtremeByCollation returns what MIN and MAX look at in place of e, whose collation is not by bytes, and the function that makes a value of e's
// type of what they find. Of equal strings they take the one that is smallest, or largest, by its bytes and length.
func ExtremeByCollation(e Expr) (pair Expr, value func(Expr) Expr) {
	t := e.Type()
	return InternalCall(collationPair, types.Blob, uncollated(e), CollationName(t.Collation)), func(found Expr) Expr {
		return InternalCall(collationValue, t, found)
	}
}

// appendPair: no key holds two zero bytes at a position where another ends, so that keys compare before what follows.
func appendPair(c types.Collation, dst []byte, s string) []byte {
	dst = append(c.AppendKey(dst, s), 0, 0)
	dst = append(dst, s...)
	n := len(s)
	return append(dst, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

func valueOfPair(pair string) string {
	end := len(pair) - 4
	if end < 0 { // instead of a NULL
		return ""
	}
	n := int(pair[end])<<24 | int(pair[end+1])<<16 | int(pair[end+2])<<8 | int(pair[end+3])
	return pair[end-n : end]
}

// collationHint names the collations that there are.
func collationHint() string {
	var names []string
	for _, c := range types.Collations() {
		names = append(names, c.String())
	}
	return "there are " + strings.Join(names, ", ")
}

// ParseCollation returns the collation that a statement names.
func ParseCollation(name string) (types.Collation, error) {
	if c, ok := types.CollationByName(name); ok {
		return c, nil
	}
	if known := strings.SplitN(strings.ToLower(name), "_", 2); len(known) == 2 && slices.Contains(foreignCharsets, known[0]) {
		return 0, sqlerr.NotSupportedf("COLLATE "+name, "%s", collationHint())
	}
	return 0, sqlerr.New(sqlerr.CodeUnknownCollation, sqlerr.User, "Unknown collation: '%s'", name).WithHint("%s", collationHint())
}

// ParseStringCollation returns the collation of that name, which is not to be that of bytes.
func ParseStringCollation(name string) (types.Collation, error) {
	c, err := ParseCollation(name)
	if err == nil && c == types.CollationBinary {
		return c, sqlerr.NotSupportedf("the collation binary for text", "utf8mb4_bin compares by bytes too")
	}
	return c, err
}

// foreignCharsets begin the names of MySQL's other collations.
var foreignCharsets = []string{
	"utf8mb4", "utf8mb3", "utf8", "latin1", "latin2", "latin5", "latin7", "ascii", "ucs2", "utf16", "utf16le", "utf32", "cp1250", "cp1251", "cp1256", "cp1257",
	"cp850", "cp852", "cp866", "cp932", "big5", "gbk", "gb2312", "gb18030", "sjis", "ujis", "euckr", "eucjpms", "koi8r", "koi8u", "greek", "hebrew",
	"tis620", "armscii8", "dec8", "geostd8", "hp8", "keybcs2", "macce", "macroman", "swe7",
}
