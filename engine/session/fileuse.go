package session

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/filecache"
	"github.com/radish-sql/radish/engine/observe"
	"github.com/radish-sql/radish/exec/cpu/scan"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/table"
)

// A statement reads of a file what its plan wants. Binding it takes the schema, from a footer or the first lines, as an outline without rows; the first plan
// says which columns are wanted; when those are there, the statement is planned again with what they tell. Where a file turns out to be other than it looked, the
// statement begins anew.

// FileUse is a file that a statement names, in one state however often it does so.
type FileUse struct {
	*filecache.Source
	version *table.Version
	parts   []table.Part
	filled  bool
	// streamed is the table for scans that read the file themselves; nil: none does yet.
	streamed *table.Version
	first    bool  // no statement before this one has wanted its columns
	warned   bool  // of records that are left out
	noted    []int // columns of strings whose odd values or looks the session knows of
}

// Fetched is what reading columns of files has cost.
type Fetched struct {
	Wall          time.Duration
	Bytes, Memory int64 // of the files, and what became of them
}

// Effects notes that the statement has effects besides its result: user variables, SLEEP, GET_LOCK, functions of the program. Nothing may run them twice, so the types of its files
// follow from all rows. If types of a sample are in use already, the statement begins anew, before the first effect.
func (st *Statement) Effects() error {
	if !st.Runs || st.Once {
		return nil
	}
	st.Once = true
	for _, u := range st.Files.Uses {
		if !st.Began && u.Set.Sampled() {
			return sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "the types of '%s' are needed before the statement's effects", u.Name).WithCause(filecache.BeginAnew{})
		}
	}
	return nil
}

// stores says whether a statement changes tables.
func stores(n ast.StmtNode) bool {
	switch n.(type) {
	case *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt, *ast.LoadDataStmt, *ast.ImportIntoStmt, *ast.CreateTableStmt:
		return true
	}
	return false
}

// final says whether what the statement has done so far cannot be done again.
func (st *Statement) final() bool { return st.Began && (st.Once || stores(st.Node)) }

// File returns the table of a file that the statement names; nil: the name is no kind of file.
func (st *Statement) File(name string) (*table.Version, error) {
	if u := st.Files.Uses[name]; u != nil {
		return u.version, nil
	}
	source, err := st.Session.DB.Files.Look(st.Context, st.Session.Vars.Access, name, st.Once)
	if source == nil || err != nil {
		return nil, err
	}
	u := &FileUse{Source: source}
	for _, other := range st.Files.Uses { // by another name
		if other.State == u.State {
			st.Files.Uses[name] = other
			return other.version, nil
		}
	}
	u.version = table.NewOutline(&table.Schema{Name: u.Title, Columns: u.Set.Columns}, u.Set.Rows, u.Set.Estimates())
	if st.Files.Uses == nil {
		st.Files.Uses = map[string]*FileUse{}
	}
	st.Files.Uses[name] = u
	return u.version, nil
}

// UseOf returns the file that a version is of; nil: it is none's.
func (st *Statement) UseOf(v *table.Version) *FileUse {
	for _, u := range st.Files.Uses {
		if u.version == v {
			return u
		}
	}
	return nil
}

// DescribedBy returns the file that a schema is of; nil: it is none's.
func (st *Statement) DescribedBy(s *table.Schema) *FileUse {
	for _, u := range st.Files.Uses {
		if u.version.Schema == s {
			return u
		}
	}
	return nil
}

// fileScans are a plan's scans of one file.
type fileScans struct {
	use   *FileUse
	scans []*physical.TableScan
}

// fileScans returns a plan's scans of files, in the order of the pipelines.
func (st *Statement) fileScans(plan *physical.Plan) (list []*fileScans) {
	if len(st.Files.Uses) == 0 {
		return nil
	}
	for _, p := range plan.All() {
		scan, ok := p.Source.(*physical.TableScan)
		if !ok {
			continue
		}
		u := st.UseOf(scan.Table)
		if u == nil {
			continue
		}
		i := slices.IndexFunc(list, func(f *fileScans) bool { return f.use == u })
		if i < 0 {
			i = len(list)
			list = append(list, &fileScans{use: u})
		}
		list[i].scans = append(list[i].scans, scan)
	}
	return list
}

// ReadFor reads what the scans of a plan want of files and nobody has read yet, or has them read it themselves from so many bytes on. A statement that is
// planned only takes what is in the cache. again says that there is more to plan with now.
func (st *Statement) ReadFor(plan *physical.Plan, streamedFrom int64) (again bool, err error) {
	for _, f := range st.fileScans(plan) {
		cached := f.use.Has(f.scans)
		if st.Files.ByOutlines && !cached {
			continue
		}
		if !cached && !plan.Recursive() {
			streams, err := st.stream(f, plan, streamedFrom)
			if err != nil {
				return false, err
			}
			if !streams {
				streams, err = st.readFirst(f, plan)
			}
			if err != nil {
				return false, err
			}
			if streams {
				continue
			}
		}
		var ordinals []int
		for _, scan := range f.scans {
			ordinals = append(ordinals, scan.Ordinals...)
		}
		read, err := st.Read(f.use, ordinals)
		if err != nil {
			return false, err
		}
		again = again || read
	}
	return again, nil
}

// Columns are read into the cache, where the next statement finds them, unless they would fill much of it, or most of their row groups are not wanted.
const (
	StreamedShare     = 4 // a quarter of the cache
	StreamedBesideGPU = 2
	wantedGroups      = 2 // half of the row groups
)

// Unread says whether a plan scans files whose columns are not in memory: they were not to be read, or the scans do it.
func (st *Statement) Unread(plan *physical.Plan) bool {
	for _, p := range plan.All() {
		scan, ok := p.Source.(*physical.TableScan)
		if !ok {
			continue
		}
		for _, u := range st.Files.Uses {
			if scan.Table == u.version && !u.filled || scan.Table == u.streamed {
				return true
			}
		}
	}
	return false
}

// stream has scans of a file that is not in the cache read its row groups themselves, if they want so many bytes or few of the row groups.
func (st *Statement) stream(f *fileScans, plan *physical.Plan, from int64) (ok bool, err error) {
	u := f.use
	if from == math.MaxInt64 || !u.Set.CanStream() {
		return false, nil
	}
	if u.streamed == nil {
		account := &memory.Account{Budget: st.Session.DB.Stored.Budget, Operator: "reading '" + u.Name + "'"}
		v, done, err := u.Set.Stream(table.WithMeter(st.Context, account.Set), "", u.Title)
		if err != nil {
			account.Close()
			return false, u.Verify(st.Context, err)
		}
		st.Files.held = append(st.Files.held, func() {
			done()
			account.Close()
		})
		if err := u.Verify(st.Context, nil); err != nil {
			return false, err
		}
		if v == nil {
			return false, nil
		}
		u.streamed = v
	}
	all := make([]int, len(u.streamed.Groups()))
	for i := range all {
		all[i] = i
	}
	whole, wanted := int64(0), int64(0)
	for _, s := range f.scans {
		ordinals := slices.DeleteFunc(slices.Clone(s.Ordinals), func(o int) bool { return o < 0 })
		kept, err := scan.Kept(s, u.streamed.Groups())
		if err != nil {
			return false, err
		}
		if len(ordinals) == 0 {
			if !u.Set.RowsEstimated { // the footers tell how many rows there are
				return false, nil
			}
			ordinals = []int{0}
		}
		whole += u.Set.Bytes(all, ordinals)
		wanted += u.Set.Bytes(kept, ordinals)
	}
	if whole <= from && wanted > whole/wantedGroups && !stopsEarly(plan) && !st.firstUse(f, plan, whole) {
		return false, nil
	}
	for _, scan := range f.scans {
		scan.Table = u.streamed
		st.NoteStrings(u, scan.Ordinals)
	}
	return true, nil
}

// The first statement that wants columns reads them without keeping them if they have so many bytes: of Parquet, of which scans decode only what passes their tests, and of
// texts, which have to be parsed whole. Files that it scans more than once stream up to mostTwice, and without a bound if conditions let all
// scans decode a part of the rows only. If there are many such scans, they stream from leastManyTimes on, where memory matters more than time.
const (
	leastStreamed     = 1 << 20
	leastStreamedText = 16 << 20
	mostTwice         = 16 << 20
	leastManyTimes    = 512 << 20
)

// firstUse says whether a query is the first that wants some of the columns of large files: who reads a file once need not wait until it lies in memory. What later
// queries want again is worth keeping.
func (st *Statement) firstUse(f *fileScans, plan *physical.Plan, bytes int64) bool {
	least, most := int64(leastStreamed), int64(math.MaxInt64)
	if f.use.Set.RowsEstimated {
		least = leastStreamedText
	}
	many := len(f.scans) > 2 && bytes < leastManyTimes
	if len(f.scans) > 1 && (many || f.use.Set.RowsEstimated || !f.selects(plan)) {
		most = mostTwice
	}
	if bytes < least || bytes > most || writes(st.Node) || !st.Session.StaysOnCPU() {
		return false
	}
	// Once decided it stays: the statement is planned again when columns of other files are there.
	var ordinals []int
	for _, s := range f.scans {
		ordinals = append(ordinals, s.Ordinals...)
	}
	f.use.first = f.use.first || f.use.FirstUse(ordinals)
	return f.use.first
}

// selects says whether all scans of a file have conditions on their rows: of the statement, or of joins with rows that have some.
func (f *fileScans) selects(plan *physical.Plan) bool {
	all := plan.All()
	return !slices.ContainsFunc(f.scans, func(s *physical.TableScan) bool { return !selects(all, s) })
}

// selects says whether conditions hold back some of a source's rows.
func selects(all []*physical.Pipeline, s physical.Source) bool {
	filled := func(sink physical.Sink) bool {
		i := slices.IndexFunc(all, func(p *physical.Pipeline) bool { return p.Sink == sink })
		return i >= 0 && (slices.ContainsFunc(all[i].Transforms, isFilter) || selects(all, all[i].Source))
	}
	switch x := s.(type) {
	case *physical.TableScan:
		return len(x.Filters) > 0 || slices.ContainsFunc(x.RuntimeFilters, func(u physical.RuntimeFilterUse) bool { return filled(u.Build) })
	case *physical.SinkScan:
		return filled(x.From)
	}
	return false
}

func isFilter(t physical.Transform) bool {
	_, ok := t.(*physical.Filter)
	return ok
}

// readFirst reads the first rows of a file that is not in the cache, for a plan that gives some of them as they come and no others. The types of a text are then those of its beginning.
func (st *Statement) readFirst(f *fileScans, plan *physical.Plan) (ok bool, err error) {
	u, rows := f.use, firstRows(plan)
	if rows < 0 || len(f.scans) > 1 || u.filled {
		return false, nil
	}
	defer func(begin time.Time) { st.Files.Fetched.Wall += time.Since(begin) }(time.Now())
	stored := st.Session.DB.Stored
	account := memory.Account{Budget: stored.Budget, Operator: "reading '" + u.Name + "'"}
	ordinals := slices.Clone(f.scans[0].Ordinals)
	slices.Sort(ordinals)
	v, err := u.Set.Read(table.WithMeter(st.Context, account.Set), "", u.Title, slices.Compact(ordinals), rows)
	if err = u.Verify(st.Context, err); err == nil {
		err = stored.Add(v, &account)
	}
	if err != nil {
		account.Close()
		return false, err
	}
	st.Files.held = append(st.Files.held, func() { stored.Remove(v) })
	first := table.NewOutline(u.version.Schema, v.Rows(), nil)
	if ok = first.Fill(table.Part{Ordinals: slices.Compact(ordinals), From: v}); ok {
		f.scans[0].Table = first
		err = st.warnOfStrings(u, ordinals)
	}
	return ok, err
}

// firstRows returns how many rows of a scan a plan gives that has them in their order and needs no more; -1: it is another plan.
func firstRows(plan *physical.Plan) int64 {
	rows := int64(-1)
	for n := plan.Logical; ; {
		switch x := n.(type) {
		case *logical.Limit:
			if rows >= 0 || x.Count == logical.NoLimit || x.Count > math.MaxInt64-x.Offset {
				return -1
			}
			rows, n = x.Count+x.Offset, x.Input
		case *logical.Project:
			n = x.Input
		case *logical.Scan:
			if len(x.Filter) > 0 {
				return -1
			}
			return rows
		default:
			return -1
		}
	}
}

// stopsEarly says whether a plan ends when it has given some of the rows of a scan.
func stopsEarly(plan *physical.Plan) bool {
	for n := plan.Logical; ; {
		switch x := n.(type) {
		case *logical.Limit:
			return x.Count != logical.NoLimit && passesRows(x.Input)
		case *logical.Project:
			n = x.Input
		default:
			return false
		}
	}
}

// passesRows says whether a node gives rows of a scan one by one.
func passesRows(n logical.Node) bool {
	for {
		switch x := n.(type) {
		case *logical.Scan:
			return true
		case *logical.Project:
			n = x.Input
		case *logical.Filter:
			n = x.Input
		default:
			return false
		}
	}
}

// Read reads columns of a file that were not read yet, if there are such.
func (st *Statement) Read(u *FileUse, ordinals []int) (more bool, err error) {
	slices.Sort(ordinals)
	ordinals = slices.DeleteFunc(slices.Compact(ordinals), func(o int) bool { return o < 0 || !u.version.Unread(o) })
	if u.filled && len(ordinals) == 0 {
		return false, nil
	}
	if err := st.warnOfStrings(u, ordinals); err != nil {
		return false, err
	}
	defer func(begin time.Time) { st.Files.Fetched.Wall += time.Since(begin) }(time.Now())
	parts := []table.Part{{From: table.Blank(&table.Schema{}, u.Set.Rows)}}
	if len(ordinals) > 0 || u.Set.RowsEstimated {
		var giveBack func()
		var fresh *filecache.Entry
		ctx, done := st.watchReading(u, ordinals)
		parts, fresh, giveBack, err = u.Columns(ctx, append([]int{}, ordinals...))
		if done(); err != nil {
			return false, err
		}
		st.Files.held = append(st.Files.held, giveBack)
		if fresh != nil {
			st.Files.Fetched.Bytes += u.Set.FileBytes(fresh.Ordinals)
			st.Files.Fetched.Memory += fresh.Bytes
		}
	}
	if u.parts = append(u.parts, parts...); u.version.Fill(u.parts...) {
		u.filled = true
		return true, nil
	}
	// Columns that were read apart have other row groups, for the length of their strings: all are read together.
	var all []int
	for _, p := range u.parts {
		all = append(all, p.Ordinals...)
	}
	slices.Sort(all)
	f, err := u.Source.Read(st.Context, slices.Compact(all))
	if err != nil {
		return false, err
	}
	st.Files.held = append(st.Files.held, func() { u.GiveBack(f) })
	u.parts = []table.Part{{Ordinals: f.Ordinals, From: f.Version}}
	if u.filled = u.version.Fill(u.parts...); !u.filled {
		return false, sqlerr.Bug("the row groups of '%s' differ", u.Name)
	}
	return true, nil
}

// watchReading returns a context in which columns of a file are read, whose progress is told until done is called.
func (st *Statement) watchReading(u *FileUse, ordinals []int) (ctx context.Context, done func()) {
	p, stop := observe.Of(st.Context).Watch()
	if p == nil {
		return st.Context, stop
	}
	p.Read(u.Name, u.Set.ReadBytes(ordinals))
	return table.WithReads(st.Context, p.AddRead), stop
}

// warnOfStrings warns of columns that one odd value makes strings, of strings that look like another type, and of records that are left out.
func (st *Statement) warnOfStrings(u *FileUse, ordinals []int) error {
	count, first, err := u.Set.Rejected(st.Context)
	if err != nil {
		return err
	}
	if count > 0 && !u.warned {
		u.warned = true
		st.Session.Warnings.Add(sqlerr.LevelWarning, sqlerr.CodeWrongValueForField, "%d records of '%s' are left out: they do not fit, and ignore_errors = true. The first: %s. rejects = true lists them",
			count, u.Name, first)
	}
	st.NoteStrings(u, ordinals)
	return nil
}

// NoteStrings warns once of columns that one odd value makes strings, and of strings that look like another type.
func (st *Statement) NoteStrings(u *FileUse, ordinals []int) {
	for _, o := range ordinals {
		if o < 0 || slices.Contains(u.noted, o) {
			continue
		}
		u.noted = append(u.noted, o)
		switch odd := u.Set.Odd(o); {
		case odd == nil:
		case odd.Looks != "":
			st.Session.Warnings.Add(sqlerr.LevelNote, sqlerr.CodeWrongValueForField, "'%s': %s", u.Name, odd.Looks)
		default:
			st.Session.Warnings.Add(sqlerr.LevelWarning, sqlerr.CodeWrongValueForField,
				"Incorrect %s value: '%s' for column '%s' at %s; the column is TEXT for it", odd.Type, odd.Text, u.Set.Columns[o].Name, odd.Position)
		}
	}
}

// Misfits makes an error of a scan that met a value which does not fit its column's type one after which the statement begins anew, unless it writes or has effects.
func (st *Statement) Misfits(err error) error {
	var bad *files.Misfit
	if !errors.As(err, &bad) || st.final() {
		return err
	}
	for _, u := range st.Files.Uses {
		if u.Set == bad.Set {
			return u.Retype(st.Context, err)
		}
	}
	return err
}

// Again makes the statement begin anew, if err asks for it. changes counts how often a file has changed.
func (st *Statement) Again(err error, changes *int) bool {
	var anew filecache.BeginAnew
	if !errors.As(err, &anew) || st.final() {
		return false
	}
	if anew.Changed {
		if *changes++; *changes >= fileaccess.Reads {
			return false
		}
	}
	st.Files.giveBack()
	return true
}
