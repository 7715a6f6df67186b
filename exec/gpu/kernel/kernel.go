package kernel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Kernel is one kernel of a pipeline: its text, and what its launch needs besides the parameters.
//
// The text is one loop over the rows of the source. Each operator writes what it does to a row, and opens a block for the rows that live on. What follows
// is written inside, so each operator stands in the text once. A sink that appends rows wants all threads of a block together: where a row gives at most
// one, the blocks are closed first and variables carry the values out.
type Kernel struct {
	*codegen.Text
	*Outline
	Launch

	Declarations codegen.Gap        // before the loop
	Tiles        codegen.Gap        // the head of the loop over a scan's tiles
	Ends         []string           // the last line of each block that is open around the current position, within a row; "": none
	Raws         map[string]RawItem // of a column's value, by its name: the item that it comes from
	Blocks       int                // that a multiprocessor must have registers for; 0: any number
	Defines      []string           // macros of the headers, besides
	Filters      []Filter           // of builds, that the scan's rows are looked up in
	Functions    []string           // that the kernels call
	Prefetch     bool               // the sink is busy with a tile between barriers: a scan has the next one come to the L2 cache meanwhile
	// Tile is where declarations go that live as long as a thread's rows of a tile, if the thread takes its rows in turn. EndTile is written after them.
	Tile    codegen.Gap
	EndTile []string
	notes   []Note // what the text does not name
}

// Launch is what the runner needs to know about a kernel besides its parameters.
type Launch struct {
	Title   string       // the kernel's name in its source
	CUDA    string       // the whole source, which is compiled
	Rows    Rows         // what the loop goes over
	Shared  SharedMemory // dynamic, of a block
	Items   int          // rows that a thread takes at once
	Threads int          // of a block
	Either  bool         // the kernel is right whichever way its scan loads columns: see Program.loadsAllRows
	Second  *Kernel      // partitions once more what this one has partitioned, of the side of a join; nil: one pass suffices
	Then    []*Kernel    // run after that, over sources of their own
	Learn   *Kernel      // runs after this one has seen some of the tiles, before it sees the others; nil: none
	Meets   bool         // where rows move between places, it runs once all of them have come so far
	Listed  bool         // of Then: it lists what it does not go over, and is launched over the list, too, if there is one
	// LearnRows are about the rows that are seen before Learn runs.
	LearnRows int64
}

// Note is a table or an expression that a kernel is about, for EXPLAIN. The text names none, nor the pipeline, so that queries of one shape have the same kernels.
type Note struct {
	What string
	Of   expr.Expr // nil: what says it all
}

// RawItem is an item of a column in registers, of at most 32 bits: what a value is above base.
type RawItem struct {
	Text string
	Base int64
}

// Note adds a note.
func (k *Kernel) Note(n Note) { k.notes = append(k.notes, n) }

// NoteText puts a kernel's notes together.
func (k *Kernel) NoteText() string {
	var all []string
	for _, n := range k.notes {
		text := n.What
		if n.Of != nil {
			text += commentText(n.Of)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// commentText prints an expression on one line, without what could end the comment, and with empty literals, since the kernel is the same whatever they
// are.
func commentText(e expr.Expr) string {
	e = expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.Const:
			return &expr.Const{Value: types.Value{Type: e.Value.Type}}
		case *expr.In:
			return &expr.In{Arg: e.Arg}
		}
		return e
	})
	text := []rune(e.String())
	if len(text) > 100 {
		text = append(text[:97], '.', '.', '.')
	}
	for i, c := range text {
		if c < ' ' || c == '\\' || c > '~' {
			text[i] = '?'
		}
	}
	return string(text)
}

// All are a pipeline's kernels, none of nil.
func (k *Kernel) All() []*Kernel {
	if k == nil {
		return nil
	}
	all := []*Kernel{k}
	if k.Second != nil {
		all = append(all, k.Second)
	}
	all = append(all, k.Then...)
	if k.Learn != nil {
		all = append(all, k.Learn)
	}
	return all
}

// MakesStrings says whether a pipeline's kernels make strings.
func (k *Kernel) MakesStrings() bool {
	return slices.ContainsFunc(k.All(), func(x *Kernel) bool { return x.Text.MakesStrings() })
}

// KeepsStrings says whether they make strings that more than a condition reads.
func (k *Kernel) KeepsStrings() bool {
	return slices.ContainsFunc(k.All(), func(x *Kernel) bool { return x.Text.KeepsStrings() })
}

// Rows are what a launch goes over. One of the first three is set, or Count rows are there.
type Rows struct {
	Scan   *physical.TableScan // tiles of a table
	Of     physical.Sink       // rows that a sink stores
	Groups *physical.Aggregate // slots of groups
	Count  int64               // constant rows
	// SharedBy is what gives copies of the rows, if several threads come for each row and share its copies; nil: one comes.
	SharedBy  *physical.Repeat
	Deferring bool // long runs that Outline.DefersTo finds for them are put off to a launch in which several threads come for each
}

// SharedMemory is how many bytes of shared memory a block needs. What depends on the launch is a function of it, not of the query that runs.
type SharedMemory struct {
	Bytes   int64
	Threads func(threads int) int64 // besides, where a block has so many threads; nil: nothing
	Copied  bool                    // the bytes are those of one copy of a block's groups
	Before  int64                   // bytes in front of all that
}

// Needs says whether a block needs any.
func (m SharedMemory) Needs() bool { return m.Bytes > 0 || m.Threads != nil }

// Of is the bytes of a block of so many threads, with 1 << shift copies of its groups.
func (m SharedMemory) Of(threads, shift int) int64 {
	bytes := m.Bytes
	if m.Copied {
		bytes <<= shift
	}
	if m.Threads != nil {
		bytes += m.Threads(threads)
	}
	return bytes + m.Before
}

// Block opens a block around the rest of the row.
func (k *Kernel) Block(format string, args ...any) {
	k.Open(format, args...)
	k.Ends = append(k.Ends, "")
}

// AtEnd says what the last line of the innermost block is.
func (k *Kernel) AtEnd(line string) { k.Ends[len(k.Ends)-1] = line }

// Callee is a function that the kernel calls, named after it. Its first parameter is p, the kernel's.
func (k *Kernel) Callee(suffix string, parameters, lines []string) string {
	return fmt.Sprintf("template <typename P>\nRADISH_NOINLINE void %s_%s(%s) {\n  %s\n}\n", k.Title, suffix, strings.Join(parameters, ", "), strings.Join(lines, "\n  "))
}

// BlockThreads is the number of threads of a block of generated kernels, unless they want more.
const BlockThreads = 256

// ThreadItems is the number of rows that a thread takes at once, unless kernels want another.
const ThreadItems = 4

// File is the whole source that is compiled, with macros of the headers.
func (k *Kernel) File(macros []string) string {
	declared, source := codegen.Declare(len(k.Params), k.Pipelines.Target.LaunchWords)
	for _, f := range k.Functions {
		source += f + "\n"
	}
	source += k.Source(k.Title, declared)
	defines := ""
	if k.Blocks > 0 {
		defines = fmt.Sprintf("#define RADISH_BLOCKS %d\n", k.Blocks)
	}
	for _, d := range macros {
		defines += "#define " + d + "\n"
	}
	return defines + "#define RADISH_BLOCK " + strconv.Itoa(k.Threads) + "\n#define RADISH_ITEMS " + strconv.Itoa(k.Items) + "\n" + k.Pipelines.Target.Includes(source) + "\n" + source
}

// Sink writes a pipeline's end. Its methods are called in this order, declare's result standing before all else.
type Sink interface {
	// Row is called inside all blocks, for a row that lives.
	Row(s *codegen.Scope)
	// Together is called where all threads of the block are at one point, once a row. It returns the declarations of the variables that row
	// has set, to stand before the row's blocks.
	Together() []string
	// After is called behind the loop.
	After()
	Declare() []string
}

// Emit writes what computes an expression, and returns its value. The pipeline's outline has found its form, so kernels can compute it.
func (k *Kernel) Emit(e expr.Expr, s *codegen.Scope) codegen.Value {
	v, err := k.Text.Emit(e, s)
	k.decided(err)
	return v
}

// EmitCond is Emit of a condition: it returns a C++ bool that is true where it is TRUE.
func (k *Kernel) EmitCond(e expr.Expr, s *codegen.Scope) string {
	cond, err := k.Text.EmitCond(e, s)
	k.decided(err)
	return cond
}

// decided ends the writing of a kernel that cannot be written: its outline should have refused the pipeline.
func (k *Kernel) decided(err error) {
	if err != nil {
		panic(fmt.Sprintf("a kernel is being written of pipeline %d, and %v", k.Pipeline.ID, err))
	}
}

// AskStop writes the beginning of a loop that may have very many turns for a row. The loop ends when the query has been cancelled, and its results do not matter then. turn is the C++ of a number that differs from turn
// to turn. Only some turns ask; see stopped_at in error.cuh.
func (k *Kernel) AskStop(turn string) {
	if k.Stops {
		k.Line("if (stop || stopped_at(%s, %s, %s)) {", k.ErrorAddress(), k.Pointer("const u32", CancelWord{}), turn)
		k.Line("  stop = true;")
		k.Line("  break;")
		k.Line("}")
	}
}

// CounterWord is the address of a pipeline's counter for one of its operators: a u64 that is 0 at the start.
type CounterWord struct {
	P  *physical.Pipeline
	Of any
}

// MostLaunched is the most rows of a launch, so that a cancelled query ends soon.
const MostLaunched = 1 << 30

// MostValues is the most values that a kernel loads and computes for a row. The compiler's time grows with the square of their number: 200 sums take 10 s, 600 take 90.
const MostValues = 2000

// MostCounters is the most counters that a pipeline has, beside one for each of its limits. Of its sink there are two, as it is filled and sorted, or three: what
// came to groups directly and what was appended to them are apart. Of its made strings there is one. A source of constant rows counts them, as a sink does.
const MostCounters = 6

// New begins the kernel of a pipeline.
func New(o *Outline) *Kernel {
	k := &Kernel{Text: codegen.NewText(o.Pipelines.Ctx, o.Pipelines.Answers), Outline: o, Launch: Launch{Title: "pipeline", Items: ThreadItems, Threads: BlockThreads}, Raws: map[string]RawItem{}}
	k.Ranges = o.Forms.Ranges()
	k.Declarations = k.Gap()
	return k
}

// Another returns a kernel that runs after another one, or beside it.
func (k *Kernel) Another(suffix string) *Kernel {
	return &Kernel{Text: codegen.NewText(k.Ctx, k.Lookups), Outline: k.Outline, Launch: Launch{Title: k.Title + suffix, Threads: k.Threads, Items: k.Items}, Blocks: k.Blocks}
}

// Filter is a filter of a build's key that a kernel reads under some name.
type Filter struct {
	Name     string
	Word     any // its address
	Bytes    int64
	IsCopied bool // blocks copy it to shared memory
}
