package program

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Kernel is one kernel of a pipeline: its text, and what its launch needs besides the parameters.
//
// The text is one loop over the rows of the source. Each operator writes what it does to a row, and opens a block for the rows that live on. What follows
// is written inside, so each operator stands in the text once. A sink that appends rows wants all threads of a block together: where a row gives at most
// one, the blocks are closed first and variables carry the values out.
type Kernel struct {
	*codegen.Text
	prog     *Program
	Pipeline *physical.Pipeline
	Title    string

	declarations codegen.Gap        // before the loop
	tiles        codegen.Gap        // the head of the loop over a scan's tiles
	Rows         Rows               // over the source's rows
	MaxRows      float64            // a bound of the rows into the sink; infinite if none is known
	Many         bool               // a row of the source may give several
	Either       bool               // the kernel is right whichever way its scan loads columns: see Program.most
	Stops        bool               // it has loops that end when the query is cancelled: the variable stop says that it was
	ends         []string           // of the blocks that are open around the current place, within a row: the last line of each, if any
	Shared       SharedMemory       // dynamic, of a block
	raws         map[string]rawItem // of a column's value, by its name: the item that it comes from
	Items        int                // rows that a thread takes at once
	Threads      int                // of a block
	blocks       int                // that a multiprocessor has to have registers for; 0: any
	defines      []string           // macros of the headers, besides
	filters      []usedFilter       // of builds, that the scan's rows are looked up in
	functions    []string           // that the kernels call
	// tile is where declarations go that live as long as a thread's rows of a tile, if those are taken in turn; endTile stands behind them.
	tile    codegen.Gap
	endTile []string
	CUDA    string // the whole source, which is compiled

	Then  []*Kernel // that run after this one, of sources of their own
	notes []note    // what the text does not name
	Learn *Kernel   // another one, that runs after this one has seen some of the tiles, before it sees the others; nil: none
}

// A note is for EXPLAIN: a table or an expression that a kernel is about. The text names none, nor the pipeline, so that queries of one shape have the same kernels.
type note struct {
	what string
	of   expr.Expr // nil: what says it all
}

func (k *Kernel) note(n note) { k.notes = append(k.notes, n) }

// NoteText puts a kernel's notes together.
func (k *Kernel) NoteText() string {
	var all []string
	for _, n := range k.notes {
		text := n.what
		if n.of != nil {
			text += commentText(n.of)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// All are a pipeline's kernels, none of nil.
func (k *Kernel) All() []*Kernel {
	if k == nil {
		return nil
	}
	all := append([]*Kernel{k}, k.Then...)
	if k.Learn != nil {
		all = append(all, k.Learn)
	}
	return all
}

// MakesStrings says whether a pipeline's kernels make strings.
func (k *Kernel) MakesStrings() bool {
	return slices.ContainsFunc(k.All(), func(x *Kernel) bool { return x.Text.MakesStrings() })
}

// Rows are what a launch goes over. One of the first three is set, or Count rows are there.
type Rows struct {
	Scan   *physical.TableScan // tiles of a table
	Of     physical.Sink       // rows that a sink stores
	Groups *physical.Aggregate // slots of groups
	Count  int64               // constant rows
	// SharedBy is what gives copies of the rows, if several threads come for each row and share its copies; nil: one comes.
	SharedBy *physical.Repeat
}

// SharedMemory is how many bytes of shared memory a block needs. What depends on the launch is a function of it, not of the query that runs.
type SharedMemory struct {
	bytes   int64
	threads func(threads int) int64 // besides, where a block has so many threads; nil: nothing
	copied  bool                    // the bytes are those of one copy of a block's groups
}

// needs says whether a block needs any.
func (m SharedMemory) needs() bool { return m.bytes > 0 || m.threads != nil }

// Of is the bytes of a block of so many threads, with 1 << shift copies of its groups.
func (m SharedMemory) Of(threads, shift int) int64 {
	bytes := m.bytes
	if m.copied {
		bytes <<= shift
	}
	if m.threads != nil {
		bytes += m.threads(threads)
	}
	return bytes
}

// block opens a block around the rest of the row.
func (k *Kernel) block(format string, args ...any) {
	k.Open(format, args...)
	k.ends = append(k.ends, "")
}

// atEnd says what the last line of the innermost block is.
func (k *Kernel) atEnd(line string) { k.ends[len(k.ends)-1] = line }

// callee is a function that the kernel calls, named after it. Its first parameter is p, the kernel's.
func (k *Kernel) callee(suffix string, parameters, lines []string) string {
	return fmt.Sprintf("template <typename P>\nRADISH_NOINLINE void %s_%s(%s) {\n  %s\n}\n", k.Title, suffix, strings.Join(parameters, ", "), strings.Join(lines, "\n  "))
}

// BlockThreads is the number of threads of a block of generated kernels, unless they want more.
const BlockThreads = 256

// generate writes a pipeline's kernel.
func (g *Program) generate(p *physical.Pipeline) (*Kernel, error) {
	k := &Kernel{Text: codegen.NewText(g.Ctx, g.lookups), prog: g, Pipeline: p, Title: "pipeline", Items: 4, Threads: BlockThreads}
	k.Ranges = codegen.Ranges{}
	k.raws = map[string]rawItem{}
	k.declarations = k.Gap()
	sink, err := g.newSink(k)
	if err != nil {
		return nil, err
	}
	s := codegen.NewScope()
	if s, err = k.openSource(s); err != nil {
		return nil, err
	}
	for _, t := range p.Transforms {
		k.Many = k.Many || g.multiplies(t)
		k.Stops = k.Stops || g.loops(t)
	}
	out := k.Gap() // variables that the sink takes out of the row's blocks
	s, err = k.openRow(s)
	if err != nil {
		return nil, err
	}
	for _, t := range p.Transforms {
		if s, err = k.transform(s, t); err != nil {
			return nil, err
		}
	}
	if err := sink.row(s); err != nil {
		return nil, err
	}
	for i := len(k.ends) - 1; i >= 0; i-- {
		if k.ends[i] != "" {
			k.Line("%s", k.ends[i])
		}
		k.Close()
	}
	outside, err := sink.together()
	if err != nil {
		return nil, err
	}
	k.Fill(out, k.Depth(), outside)
	for k.Depth() > 1 {
		k.Close()
		if k.Depth() == 2 {
			for _, l := range k.endTile {
				k.Line("%s", l)
			}
		}
	}
	if k.tile != "" {
		k.Fill(k.tile, 2, nil)
	}
	if scan := k.Rows.Scan; scan != nil {
		tiles := fmt.Sprintf("%s, %s, %s", k.Word(SpansWord{scan}), k.Word(FromWord{}), k.Word(ToWord{}))
		if k.Learn != nil {
			tiles += ", (i64)" + k.Word(EveryWord{})
		}
		k.Fill(k.tiles, 1, []string{fmt.Sprintf("for (Tiles<RADISH_ITEMS> t(%s); t.next();) {", tiles)})
	}
	if err := sink.after(); err != nil {
		return nil, err
	}
	declared := sink.declare()
	declared = append(declared, k.declareFilters()...)
	if k.Stops {
		declared = append(declared, fmt.Sprintf("bool stop = raised(%s);", k.ErrorAddress()))
	}
	k.Fill(k.declarations, 1, declared)
	for _, x := range k.All() {
		if len(x.Params) > g.Target.LaunchWords {
			return nil, codegen.Refuse("its kernel would need more than %d literals, columns and arrays", g.Target.LaunchWords)
		}
		x.CUDA = x.file(k.defines)
	}
	return k, nil
}

// file is the whole source that is compiled, with macros of the headers.
func (k *Kernel) file(macros []string) string {
	source := ""
	for _, f := range k.functions {
		source += f + "\n"
	}
	source += k.Source(k.Title)
	defines := ""
	if k.blocks > 0 {
		defines = fmt.Sprintf("#define RADISH_BLOCKS %d\n", k.blocks)
	}
	for _, d := range macros {
		defines += "#define " + d + "\n"
	}
	return defines + "#define RADISH_BLOCK " + strconv.Itoa(k.Threads) + "\n#define RADISH_ITEMS " + strconv.Itoa(k.Items) + "\n" + k.prog.Target.Includes(source) + "\n" + source
}

// sinkText writes a pipeline's end. Its methods are called in this order, declare's result standing before all else.
type sinkText interface {
	// row is called inside all blocks, for a row that lives.
	row(s *codegen.Scope) error
	// together is called where all threads of the block are at one place, once a row. It returns the declarations of the variables that row
	// has set, to stand before the row's blocks.
	together() ([]string, error)
	// after is called behind the loop.
	after() error
	declare() []string
}

func (k *Kernel) transform(s *codegen.Scope, t physical.Transform) (*codegen.Scope, error) {
	switch t := t.(type) {
	case *physical.Filter:
		k.Line("// filter")
		return k.filter(s, t.Preds)
	case *physical.Project:
		k.Line("// project")
		return s, k.project(s, t.Items)
	case *physical.Probe:
		return k.probe(s, t)
	case *physical.Limit:
		return k.limit(s, t)
	case *physical.Repeat:
		k.Line("// repeat")
		n, err := k.Emit(t.Count, s)
		if err != nil {
			return nil, err
		}
		i := k.Name("n")
		first, step := "0", "1"
		if k.Rows.SharedBy == t {
			first, step = "turn & (sharers - 1)", "sharers"
		}
		k.MaxRows = Unbounded
		k.block("for (i64 %s = %s; %s < %s; %s += %s) {", i, first, i, n.Text, i, step)
		k.askStop("(u32)(row + " + i + ")")
		return s.Nested(), nil
	}
	return nil, codegen.Refuse("%T runs on the CPU only", t)
}

// askStop writes, first in a loop of which a row of the source may have very many turns, that it ends when the query has been cancelled. What the loop has found
// then is of no account. turn is the C++ of a number that differs from turn to turn: some of them ask, see stopped_at in error.cuh.
func (k *Kernel) askStop(turn string) {
	if k.Stops {
		k.Line("if (stop || stopped_at(%s, %s, %s)) {", k.ErrorAddress(), k.Pointer("const u32", CancelWord{}), turn)
		k.Line("  stop = true;")
		k.Line("  break;")
		k.Line("}")
	}
}

func (k *Kernel) filter(s *codegen.Scope, preds []expr.Expr) (*codegen.Scope, error) {
	for _, e := range preds {
		cond, err := k.EmitCond(e, s)
		if err != nil {
			return nil, err
		}
		k.block("if (%s) {", cond)
		s = s.Nested()
	}
	return s, nil
}

func (k *Kernel) project(s *codegen.Scope, items []logical.Item) error {
	for _, it := range items {
		if c, ok := it.Expr.(*expr.Column); ok {
			within, known := k.Ranges[c.ID]
			k.Ranges.Note(it.Col.ID, within, known)
			if !s.Alias(it.Col.ID, c.ID) {
				return codegen.Refuse("column %s is not on the GPU", c)
			}
			continue
		}
		v, err := k.Emit(it.Expr, s)
		if err != nil {
			return err
		}
		within, known := k.Ranges.Of(it.Expr)
		k.Ranges.Note(it.Col.ID, within, known)
		s.Bind(it.Col.ID, v)
	}
	return nil
}

// limit lets rows through by their number: of rows in order the place, else a ticket.
func (k *Kernel) limit(s *codegen.Scope, t *physical.Limit) (*codegen.Scope, error) {
	k.Line("// limit")
	if k.placed(t) {
		k.block("if (row >= (i64)%s && row - (i64)%s < (i64)%s) {", k.Literal(uint64(t.Offset)), k.Literal(uint64(t.Offset)), k.Literal(limitCount(t)))
		return s.Nested(), nil
	}
	ticket := k.Name("ticket")
	k.Line("const u64 %s = append(%s);", ticket, k.Pointer("u64", CounterWord{k.Pipeline, t}))
	k.block("if (%s >= %s && %s - %s < %s) {", ticket, k.Literal(uint64(t.Offset)), ticket, k.Literal(uint64(t.Offset)), k.Literal(limitCount(t)))
	return s.Nested(), nil
}

func limitCount(t *physical.Limit) uint64 {
	if t.Count < 0 {
		return 1 << 62
	}
	return uint64(t.Count)
}

// fromOrder says whether the source's rows have an order.
func (k *Kernel) fromOrder() bool {
	scan, ok := k.Pipeline.Source.(*physical.SinkScan)
	if !ok {
		return false
	}
	switch scan.From.(type) {
	case *physical.Sort, *physical.Window:
		return true
	}
	return false
}

// InOrder says whether the sink has to keep the source's order: not one that other pipelines end in too, a union's.
func (k *Kernel) InOrder() bool {
	return k.fromOrder() && len(k.prog.Feeders[k.Pipeline.Sink]) == 1
}

// placed says whether the rows that come to a transform are the source's, in order, so that their numbers there say how many came before.
func (k *Kernel) placed(t physical.Transform) bool {
	for _, before := range k.Pipeline.Transforms {
		if before == t {
			return k.fromOrder()
		}
		if p, ok := before.(*physical.Probe); ok && keepsRows(p.Kind) && !k.prog.multiplies(p) {
			continue
		}
		if _, ok := before.(*physical.Project); !ok {
			return false
		}
	}
	return false
}

// CounterWord is the address of a pipeline's counter for one of its operators: a u64 that is 0 at the start.
type CounterWord struct {
	P  *physical.Pipeline
	Of any
}

// MostCounters is the most counters that a pipeline has, beside one for each of its limits: of its sink two, as it is filled and sorted, or three, what came to
// groups directly and what was appended to them apart; of its texts one; and of a source of constant rows how many these are, as a sink.
const MostCounters = 6
