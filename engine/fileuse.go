package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/table"
)

// A statement reads of a file what its plan wants. Binding it takes the schema, from a footer or the first lines, as an outline without rows; the first plan
// says which columns are wanted; when those are there, the statement is planned again with what they tell. Where a file turns out to be other than it looked, the
// statement begins anew.

// fileUse is a file that a statement names, in one state however often it does so.
type fileUse struct {
	fileState
	cache   *fileCache
	policy  *fileaccess.Policy
	name    string // as it was written
	title   string // of the table
	pattern string // with an absolute path
	set     *files.Set
	version *table.Version
	parts   []table.Part
	filled  bool
}

// beginAnew is the cause of an error after which the statement has to be bound again.
type beginAnew struct{ changed bool }

func (beginAnew) Error() string { return "a file is not what it looked like" }

// verify returns what reading a file came to: err, or that the statement has to begin anew because the file has changed or its values have other types.
func (u *fileUse) verify(ctx context.Context, err error) error {
	if errors.Is(err, sqlerr.Cancelled) {
		return err
	}
	if now, gone := stampOf(u.policy, u.pattern); gone == nil && now != u.stamp { // what was open stays whole when its name goes
		return sqlerr.From(fileaccess.Changed(u.name)).WithCause(beginAnew{true})
	}
	if err == nil {
		return nil
	}
	next, err := u.set.Retype(ctx, err)
	if err != nil {
		return err
	}
	u.cache.remember(u.policy, u.fileState, next)
	return sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "the types of '%s' keep changing", u.name).WithCause(beginAnew{})
}

// file returns the table of a file that the statement names; nil: the name is no kind of file.
func (st *statement) file(name string) (*table.Version, error) {
	if u := st.uses[name]; u != nil {
		return u.version, nil
	}
	u, err := st.session.engine.files.look(st.ctx, st.session.vars.access, name)
	if u == nil || err != nil {
		return nil, err
	}
	for _, other := range st.uses { // by another name
		if other.fileState == u.fileState {
			st.uses[name] = other
			return other.version, nil
		}
	}
	if u.set.Whole() {
		parts, giveBack, err := u.cache.columns(st.ctx, u, nil)
		if err != nil {
			return nil, err
		}
		st.files = append(st.files, giveBack)
		u.version, u.filled = parts[0].From, true
	} else {
		u.version = table.NewOutline(&table.Schema{Name: u.title, Columns: u.set.Columns}, u.set.Rows, nil)
	}
	if st.uses == nil {
		st.uses = map[string]*fileUse{}
	}
	st.uses[name] = u
	return u.version, nil
}

// settled returns the table of a file with the types that hold all values of all columns.
func (st *statement) settled(name string) (*table.Version, error) {
	v, err := st.file(name)
	if v == nil || err != nil {
		return v, err
	}
	u := st.uses[name]
	next, err := u.set.Retype(st.ctx, nil)
	if err != nil {
		return nil, err
	}
	if next != u.set {
		if err := u.verify(st.ctx, nil); err != nil {
			return nil, err
		}
		u.cache.remember(u.policy, u.fileState, next)
		u.set = next
		u.version = table.NewOutline(&table.Schema{Name: u.title, Columns: next.Columns}, next.Rows, nil)
	}
	return u.version, nil
}

// useOf returns the file that a version is of; nil: it is none's.
func (st *statement) useOf(v *table.Version) *fileUse {
	for _, u := range st.uses {
		if u.version == v {
			return u
		}
	}
	return nil
}

// readFor reads what the scans of a plan want of files and nobody has read yet. again says that there is more to plan with now.
func (st *statement) readFor(plan *physical.Plan) (again bool, err error) {
	if len(st.uses) == 0 {
		return false, nil
	}
	wanted := map[*fileUse][]int{}
	var order []*fileUse
	for _, p := range plan.All() {
		scan, ok := p.Source.(*physical.TableScan)
		if !ok {
			continue
		}
		if u := st.useOf(scan.Table); u != nil {
			if _, seen := wanted[u]; !seen {
				order = append(order, u)
			}
			wanted[u] = append(wanted[u], scan.Ordinals...)
		}
	}
	for _, u := range order {
		read, err := st.read(u, wanted[u])
		if err != nil {
			return false, err
		}
		again = again || read
	}
	return again, nil
}

// read reads columns of a file that were not read yet, if there are such.
func (st *statement) read(u *fileUse, ordinals []int) (more bool, err error) {
	slices.Sort(ordinals)
	ordinals = slices.DeleteFunc(slices.Compact(ordinals), func(o int) bool { return o < 0 || !u.version.Unread(o) })
	if u.filled && len(ordinals) == 0 {
		return false, nil
	}
	st.warnOfTexts(u, ordinals)
	parts := []table.Part{{From: table.Blank(&table.Schema{}, u.set.Rows)}}
	if len(ordinals) > 0 || u.set.RowsEstimated {
		var giveBack func()
		if parts, giveBack, err = u.cache.columns(st.ctx, u, append([]int{}, ordinals...)); err != nil {
			return false, err
		}
		st.files = append(st.files, giveBack)
	}
	if u.parts = append(u.parts, parts...); u.version.Fill(u.parts...) {
		u.filled = true
		return true, nil
	}
	// Columns that were read apart have other row groups, for the length of their texts: all are read together.
	var all []int
	for _, p := range u.parts {
		all = append(all, p.Ordinals...)
	}
	slices.Sort(all)
	f, err := u.cache.read(st.ctx, u, slices.Compact(all))
	if err != nil {
		return false, err
	}
	st.files = append(st.files, func() { u.cache.giveBack(f) })
	u.parts = []table.Part{{Ordinals: f.ordinals, From: f.version}}
	if u.filled = u.version.Fill(u.parts...); !u.filled {
		return false, sqlerr.Bug("the row groups of '%s' differ", u.name)
	}
	return true, nil
}

// warnOfTexts warns of columns that one odd value makes texts.
func (st *statement) warnOfTexts(u *fileUse, ordinals []int) {
	for _, o := range ordinals {
		if odd := u.set.Odd(o); odd != nil {
			st.session.warnings.Add(sqlerr.LevelWarning, sqlerr.CodeWrongValueForField,
				"Incorrect %s value: '%s' for column '%s' at %s; the column is TEXT for it", odd.Type, odd.Text, u.set.Columns[o].Name, odd.Place)
		}
	}
}

// again makes the statement begin anew, if err asks for it. changes counts how often a file has changed.
func (st *statement) again(err error, changes *int) bool {
	var anew beginAnew
	if !errors.As(err, &anew) {
		return false
	}
	if anew.changed {
		if *changes++; *changes >= fileaccess.Reads {
			return false
		}
	}
	for _, giveBack := range st.files {
		giveBack()
	}
	st.files, st.uses = nil, nil
	return true
}
