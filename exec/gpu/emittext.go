package gpu

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Functions that make new texts. Their memory is the pipeline's, as long as the query runs: stored rows, keys and groups have views of it. Where it was too
// small the pipeline has counted what it needs, and runs again with as much.

// textWord is a parameter's key: of the pipeline's memory for texts.
type textWord int

const (
	textData textWord = iota
	textBytes
	textUsed
)

// madeTexts is what a pipeline's counter of the bytes that its texts take counts.
type madeTexts struct{}

// textRoom is C++ of the memory for texts.
func (t *kernelText) textRoom() string {
	return fmt.Sprintf("TextRoom{as_pointer<u8>(%s), (i64)%s, as_pointer<u64>(%s)}",
		t.param(paramSource{key: textData}), t.param(paramSource{key: textBytes}), t.param(paramSource{key: textUsed}))
}

// makesTexts says whether a pipeline's kernels make texts.
func (k *kernel) makesTexts() bool {
	for _, x := range k.all() {
		if _, ok := x.byKey[textData]; ok {
			return true
		}
	}
	return false
}

// making is the C++ of a text that is made where nothing is NULL.
func (t *kernelText) making(typ types.Type, null, text string) value {
	if null != "" {
		text = null + " ? view{nullptr, 0} : " + text
	}
	return t.assign(typ, "%s", text)
}

func emitConcat(t *kernelText, c *expr.Call, a []value, null string) (value, error) {
	if len(a) == 1 {
		v := t.view(a[0])
		return t.assign(c.Typ, "%s", v.text), nil
	}
	parts := make([]string, len(a))
	for i, v := range a {
		parts[i] = t.view(v).text
	}
	return t.making(c.Typ, null, fmt.Sprintf("concat(%s, %s)", t.textRoom(), strings.Join(parts, ", "))), nil
}

// emitConcatWS makes CONCAT_WS, which leaves NULLs out and is NULL only where the separator is.
func emitConcatWS(t *kernelText, c *expr.Call, sc *scope) (value, error) {
	args, err := t.all(c, sc)
	if err != nil {
		return value{}, err
	}
	separator := args[0]
	if separator.null == "true" {
		return nullOf(form.View, c.Typ), nil
	}
	separator = t.view(separator)
	parts := []string{t.textRoom(), separator.text}
	for _, v := range args[1:] {
		if v.null != "true" {
			v = t.view(v)
			parts = append(parts, fmt.Sprintf("TextPart{%s, %s}", v.text, nullText(v)))
		}
	}
	out := t.making(c.Typ, separator.null, "concat_ws("+strings.Join(parts, ", ")+")")
	out.null = separator.null
	return out, nil
}

// toText writes a number or a time as text. Where that may be longer than the type it is the CPU's, which cuts and warns.
func (t *kernelText) toText(v value, from, to types.Type) (value, bool) {
	if !becomesText(to) || bounded(to) && int(to.Length) < types.TextLength(from) {
		return value{}, false
	}
	text := ""
	switch {
	case from.Kind == types.KindYear:
		return value{}, false
	case exactType(from) && isExact(v):
		text = fmt.Sprintf("decimal_text(%s, %s, %d)", t.textRoom(), wide(v), scaleOf(from))
	case from.Kind == types.KindDate:
		text = fmt.Sprintf("date_text(%s, %s)", t.textRoom(), v.text)
	case from.Kind == types.KindDatetime:
		text = fmt.Sprintf("datetime_text(%s, %s, %d)", t.textRoom(), v.text, from.Scale)
	case from.Kind == types.KindTime:
		text = fmt.Sprintf("time_text(%s, %s, %d)", t.textRoom(), v.text, from.Scale)
	default:
		return value{}, false
	}
	return t.making(to, v.null, text), true
}

// textRun is a pipeline's memory for texts.
type textRun struct {
	data  gpukernels.Ptr
	bytes int64
}

const (
	textRowBytes   = 32 // a row's texts, as long as it is not known
	textLeastBytes = 1 << 20
	textMostBytes  = 1 << 30
)

// openTexts makes room for the texts of a pipeline that starts.
func (q *query) openTexts(k *kernel) error {
	if q.texts[k.p] == nil {
		rows := int64(min(k.p.EstRows, textMostBytes))
		if q.ready(k) {
			rows = q.sourceBound(k)
		}
		bytes := min(max(rows*textRowBytes, textLeastBytes), textMostBytes)
		if m, err := q.device.Memory(); err == nil {
			bytes = min(bytes, max(roundUp(m.Free/8, memoryUnit), memoryUnit))
		}
		data, err := q.alloc(bytes)
		if err != nil {
			return err
		}
		q.texts[k.p] = &textRun{data, bytes}
	}
	return q.resetCounter(counterWord{k.p, madeTexts{}})
}

// growTexts looks whether a pipeline's texts had room, and if not makes as much as they need and empties the sink: true.
func (q *query) growTexts(k *kernel) (bool, error) {
	if !k.makesTexts() {
		return false, nil
	}
	x, used := q.texts[k.p], q.counted(counterWord{k.p, madeTexts{}})
	if used <= x.bytes {
		return false, nil
	}
	q.free(x.data)
	delete(q.texts, k.p)
	bytes := roundUp(used, memoryUnit)
	data, err := q.alloc(bytes)
	if err != nil {
		return false, err
	}
	q.texts[k.p] = &textRun{data, bytes}
	return true, q.emptySink(k.p.Sink)
}

// emptySink makes a sink as it was before its pipelines ran.
func (q *query) emptySink(s physical.Sink) error {
	if a, ok := s.(*physical.Aggregate); ok {
		q.freeGroups(a)
		return q.openGroups(a)
	}
	r := q.rowsOf[s]
	return q.openRows(s, r.room, r.all)
}

// textWord gives the word of a parameter.
func (q *query) textWord(k *kernel, w textWord) uint64 {
	switch w {
	case textData:
		return uint64(q.texts[k.p].data)
	case textBytes:
		return uint64(q.texts[k.p].bytes)
	}
	return q.counter(counterWord{k.p, madeTexts{}})
}
