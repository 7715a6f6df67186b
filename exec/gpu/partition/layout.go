package partition

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/sql/expr"
)

// Layout is how a radix key and values lie in a row of 64-bit words. The radix key has the high half of word 0, or all of it. Values whose range is known take as many bytes as that needs,
// within one half of a word, so that a reader of 32-bit words finds each in one; others take whole words.
type Layout struct {
	Words  int  // 1, 2, 4 or 8
	Wide   bool // the radix key has 64 bits
	Fields []Field
	Halves []int // those in use, in order, besides the radix key: number 2 * w is the low half of word w
}

// Field is a value of a row.
type Field struct {
	ID   expr.ColumnID
	Form codegen.Form
	bits int // that it takes of a half; 0: none, since it is known; less than 0: it takes whole words
	half int // or the first of its words
	at   int // lowest bit
	null bitAt
}

// bitAt is a bit that says that a value is NULL.
type bitAt struct{ half, at int }

// MostWords is the most words of a row.
const MostWords = 8

// NewLayout packs values; nil: a row has no space for them all.
func NewLayout(wide bool, ids []expr.ColumnID, forms []codegen.Form) *Layout {
	l := &Layout{Wide: wide}
	next := 1 // word
	used := map[int]bool{}
	l.Fields = make([]Field, len(ids))
	for i := range ids {
		f := &l.Fields[i]
		*f = Field{ID: ids[i], Form: forms[i], bits: bitsOf(forms[i]), null: bitAt{-1, 0}}
		if f.bits < 0 {
			f.half = next
			for range int(forms[i].Class.Width() / 8) {
				used[2*next], used[2*next+1] = true, true
				next++
			}
		}
	}
	// The rest goes to where it fits first, long ones before short ones.
	var free []int // bits that are taken of each half from the first on
	var halves []int
	if !wide {
		halves = append(halves, 0)
	}
	for w := next; w < MostWords; w++ {
		halves = append(halves, 2*w, 2*w+1)
	}
	free = make([]int, len(halves))
	claim := func(bits int) (half, at int, ok bool) {
		for i := range halves {
			if free[i]+bits <= 32 {
				half, at = halves[i], free[i]
				free[i] += bits
				used[half] = true
				return half, at, true
			}
		}
		return 0, 0, false
	}
	order := make([]int, len(l.Fields))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return l.Fields[b].bits - l.Fields[a].bits })
	ok := next <= MostWords
	for _, i := range order {
		if f := &l.Fields[i]; f.bits > 0 && ok {
			f.half, f.at, ok = claim(f.bits)
		}
	}
	for i := range l.Fields {
		if f := &l.Fields[i]; f.Form.IsNullable && ok {
			f.null.half, f.null.at, ok = claim(1)
		}
	}
	if !ok {
		return nil
	}
	for h := range used {
		l.Halves = append(l.Halves, h)
		next = max(next, h/2+1)
	}
	slices.Sort(l.Halves)
	l.Words = int(kernel.PowerOfTwo(int64(next)))
	return l
}

// bitsOf is the bits of a half that a value takes, whole bytes, so that there are few different kernels; less than 0: it takes whole words.
func bitsOf(f codegen.Form) int {
	switch {
	case f.Class == form.Code:
		return 32
	case f.Class != form.Int || !f.Known:
		return -1
	}
	span := uint64(f.Within.Hi) - uint64(f.Within.Lo)
	if f.Within.Hi < f.Within.Lo {
		span = 0
	}
	if span > math.MaxUint32 {
		return -1
	}
	return (bits.Len64(span) + 7) / 8 * 8
}

// Pack writes the words of a row: radixKey is the C++ of its radix key, values are the fields'.
func (l *Layout) Pack(k *kernel.Kernel, radixKey string, values []codegen.Value) string {
	words := make([]string, l.Words)
	add := func(word int, text string) {
		if words[word] != "" {
			text = words[word] + " | " + text
		}
		words[word] = text
	}
	if l.Wide {
		add(0, radixKey)
	} else {
		add(0, "(u64)"+radixKey+" << 32")
	}
	for i := range l.Fields {
		f, v := &l.Fields[i], values[i]
		if f.null.half >= 0 {
			add(f.null.half/2, fmt.Sprintf("(u64)(%s) << %d", kernel.OrFalse(v.Null), f.null.at+32*(f.null.half%2)))
		}
		if f.bits >= 0 {
			if f.bits > 0 {
				add(f.half/2, fmt.Sprintf("(u64)(u32)(%s) << %d", f.offset(k, v), f.at+32*(f.half%2)))
			}
			continue
		}
		switch f.Form.Class {
		case form.Float:
			add(f.half, "as_bits("+v.Text+")")
		case form.Wide:
			add(f.half, "(u64)"+v.Text)
			add(f.half+1, "(u64)((u128)"+v.Text+" >> 64)")
		case form.View:
			add(f.half, "(u64)"+v.Text+".data")
			add(f.half+1, "(u64)"+v.Text+".size")
		default:
			add(f.half, "(u64)"+v.Text)
		}
	}
	text := "Row{{"
	for i, w := range words {
		if w == "" {
			w = "0"
		}
		if i > 0 {
			text += ", "
		}
		text += w
	}
	return text + "}}"
}

// offset is the C++ of what is stored of a value that takes some bits. What a NULL holds may be anything.
func (f *Field) offset(k *kernel.Kernel, v codegen.Value) string {
	text := v.Text
	if f.Form.Class == form.Int {
		text = fmt.Sprintf("(u64)%s - %s", v.Text, k.Literal(uint64(f.Form.Within.Lo)))
	}
	if f.Form.IsNullable && f.bits < 32 {
		return fmt.Sprintf("(%s) & %#x", text, uint32(1)<<f.bits-1)
	}
	return text
}

// Read is a field's value: half is the C++ of a half in use.
func (l *Layout) Read(k *kernel.Kernel, f *Field, half func(h int) string) codegen.Value {
	v := f.Form.Value()
	word := func(w int) string { return fmt.Sprintf("((u64)%s << 32 | %s)", half(2*w+1), half(2*w)) }
	if f.null.half >= 0 {
		v.Null = fmt.Sprintf("(%s >> %d & 1) != 0", half(f.null.half), f.null.at)
	} else {
		v.Null = ""
	}
	if f.bits >= 0 {
		text := "0u"
		if f.bits > 0 {
			text = half(f.half)
			if f.at > 0 {
				text = fmt.Sprintf("%s >> %d", text, f.at)
			}
			if f.bits < 32 {
				text = fmt.Sprintf("(%s & %#x)", text, uint32(1)<<f.bits-1)
			}
		}
		v.Text = text
		if f.Form.Class == form.Int {
			v.Text = fmt.Sprintf("(i64)(%s + %s)", k.Literal(uint64(f.Form.Within.Lo)), text)
		}
		return v
	}
	switch f.Form.Class {
	case form.Float:
		v.Text = "as_f64(" + word(f.half) + ")"
	case form.Wide:
		v.Text = fmt.Sprintf("as_i128(%s, %s)", word(f.half), word(f.half+1))
	case form.View:
		v.Text = fmt.Sprintf("view{as_pointer<const u8>(%s), (i64)%s}", word(f.half), word(f.half+1))
	default:
		v.Text = "(i64)" + word(f.half)
	}
	return v
}

// HalfOf is the C++ of a half of a row.
func HalfOf(row string) func(h int) string {
	return func(h int) string {
		if h%2 == 0 {
			return fmt.Sprintf("(u32)%s.w[%d]", row, h/2)
		}
		return fmt.Sprintf("high_word(%s.w[%d])", row, h/2)
	}
}
