package distribute

import (
	"fmt"
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// where says which places have which rows of a build.
type where uint8

const (
	undecided where = iota
	atOne           // place 0 has all, the others none
	copied          // every place that needs them has all
	byKeys          // each has the rows whose keys it owns
	inJoin          // the same, from the moment on when the join moves the rows of both sides
	covering        // each has at least the rows whose keys are in its slice of the probe's table
)

// build is what has been decided of a build. The first probe that is met decides, since then both sides are known.
type build struct {
	id    int // of the build in its plan, whatever copy of the plan it is
	where where
	by    owners // of byKeys
	at    []int  // of byKeys: the keys that by is a function of
	// reads is how many pipelines probe it.
	reads int
}

// uncovered says that the slices of a build's table cannot follow those of a probe's: planning begins again without that.
type uncovered struct{ id int }

func (uncovered) Error() string { return "two probes of one build do not slice their tables alike" }

// probe adds a join to a stream.
func (x *planner) probe(s *stream, t *physical.Probe, needed func() logical.ColSet) (*stream, error) {
	b := x.builds[t.Build]
	if b.where == undecided {
		x.decide(b, s, t, needed)
	}
	switch b.where {
	case atOne:
		switch {
		case s.lay == spread && !t.Build.KeepUnmatched:
			x.copyBuild(b, t.Build)
		case s.lay == spread:
			s = x.exchange(s, needed(), Exchange{Kind: Gather, Reason: "the build, whose unmatched rows are wanted, is on the first GPU"})
		default:
			lower(s, "the first GPU alone has the build that it reads")
		}
	case byKeys:
		if !livesAt(s.homes, b.by, b.at, t.Keys) || s.lay != spread {
			t.Keys = x.asColumns([]*stream{s}, t.Keys, b.at)
			if t.Kind == logical.InnerJoin || t.Kind == logical.SemiJoin {
				dropNulls(s, t.Keys, t.Build.NullSafe, b.at)
			}
			s = x.exchange(s, needed(), Exchange{Kind: Repartition, Keys: idsOf(t.Keys, b.at), Reason: "the build that it reads is partitioned by these keys"})
		}
	case inJoin:
		s.homes = x.movedHomes(b, t)
	case covering:
		if !livesAt(s.homes, b.by, b.at, t.Keys) {
			return nil, uncovered{b.id}
		}
	}
	if t.EstRows > 0 {
		s.rows = t.EstRows
	}
	s.homes = keep(alias(s.homes, t), t.Keep)
	return s, nil
}

// movedHomes is where the rows are that a join has moved by its keys. Of rows that live on without a match nothing is known.
func (x *planner) movedHomes(b *build, t *physical.Probe) []home {
	if t.Kind != logical.InnerJoin && t.Kind != logical.SemiJoin {
		return nil
	}
	h := home{by: b.by}
	for _, i := range b.at {
		c, ok := t.Keys[i].(*expr.Column)
		if !ok {
			return nil
		}
		h.cols = append(h.cols, []expr.ColumnID{c.ID})
	}
	return []home{h}
}

// alias adds to homes the columns of a build that an inner join has found equal to theirs.
func alias(homes []home, t *physical.Probe) []home {
	if t.Kind != logical.InnerJoin || t.Build.Algorithm == physical.RangeJoin {
		return homes
	}
	return mapHomes(homes, func(id expr.ColumnID) []expr.ColumnID {
		out := []expr.ColumnID{id}
		for i, k := range t.Keys {
			c, ok := k.(*expr.Column)
			stored, ok2 := t.Build.Keys[i].(*expr.Column)
			if ok && ok2 && c.ID == id && keeps(t.Build, stored) {
				out = append(out, stored.ID)
			}
		}
		return out
	})
}

func keeps(b *physical.Build, c *expr.Column) bool {
	return slices.ContainsFunc(b.Payload, func(p *expr.Column) bool { return p.ID == c.ID })
}

// livesAt says whether rows are where the owners of some keys want them.
func livesAt(homes []home, by owners, at []int, keys []expr.Expr) bool {
	return slices.ContainsFunc(homes, func(h home) bool {
		if h.by != by {
			return false
		}
		for i, k := range at {
			c, ok := keys[k].(*expr.Column)
			if !ok || !slices.Contains(h.cols[i], c.ID) {
				return false
			}
		}
		return true
	})
}

// homesOver returns the homes whose values are all among some keys, with the key of each value.
func homesOver(homes []home, keys []expr.Expr, usable []int) (found []build) {
next:
	for _, h := range homes {
		b := build{by: h.by}
		for _, same := range h.cols {
			i := slices.IndexFunc(usable, func(k int) bool {
				c, ok := keys[k].(*expr.Column)
				return ok && slices.Contains(same, c.ID)
			})
			if i < 0 {
				continue next
			}
			b.at = append(b.at, usable[i])
		}
		found = append(found, b)
	}
	return found
}

// usableKeys are the keys of a join by which both sides may be partitioned.
//
// A mark is NULL for a row that compares NULL with any row of the build, so where a key can be NULL each place needs the whole build.
func usableKeys(t *physical.Probe) (usable []int) {
	if t.Build.Algorithm == physical.RangeJoin {
		return nil
	}
	for i, k := range t.Keys {
		other := t.Build.Keys[i]
		nullSafe := i < len(t.Build.NullSafe) && t.Build.NullSafe[i]
		if t.Kind == logical.MarkJoin && !nullSafe && (k.Nullable() || other.Nullable()) {
			return nil
		}
		if !isConst(k) && !isConst(other) {
			usable = append(usable, i)
		}
	}
	return usable
}

func isConst(e expr.Expr) bool {
	_, ok := e.(*expr.Const)
	return ok
}

// decide chooses where the rows of a build are, by the streams that bring them and the first that probes them.
func (x *planner) decide(b *build, s *stream, t *physical.Probe, needed func() logical.ColSet) {
	ends := x.ends[t.Build]
	spreadEnds := slices.ContainsFunc(ends, func(e *stream) bool { return e.lay == spread })
	usable := usableKeys(t)
	switch {
	case !spreadEnds && s.lay != spread:
		if t.Build.KeepUnmatched || slices.ContainsFunc(ends, func(e *stream) bool { return e.lay == one }) {
			x.buildAtOne(b, t.Build)
		} else {
			b.where = copied
		}
	case t.Build.KeepUnmatched && len(usable) == 0:
		x.buildAtOne(b, t.Build)
	case t.Build.KeepUnmatched:
		x.buildByKeys(b, s, t, usable)
	case !spreadEnds && !slices.ContainsFunc(ends, func(e *stream) bool { return e.lay == one }):
		b.where = copied
	case len(usable) == 0, x.t.Joins == ByCopies:
		x.copyBuild(b, t.Build)
	case x.t.Joins != ByKeys && x.cover(b, s, t, usable):
	case x.t.Joins != ByCost || !x.copiesPay(b, s, t, usable, needed()):
		x.buildByKeys(b, s, t, usable)
	default:
		x.copyBuild(b, t.Build)
	}
}

// copiesPay says whether it costs less to give every place the whole build than to partition what is not partitioned yet. needed are the probe's columns that would move.
func (x *planner) copiesPay(b *build, s *stream, t *physical.Probe, usable []int, needed logical.ColSet) bool {
	ends := x.ends[t.Build]
	rows, few := rowsOf(ends), x.t.BroadcastRows
	if s.lay != spread {
		few *= x.t.BroadcastFactor // the probe's rows, which are few or at one place, would have to move, too
	}
	if rows <= few {
		return true
	}
	row := x.t.MovedRow
	insert := row.Insert
	if t.Build.Algorithm == physical.DenseJoin {
		insert = row.InsertDense
	}
	n := float64(x.places)
	away := (n - 1) / n
	size := rows * ends[0].width(sinkNeeds(t.Build))
	_, moveBuild, moveProbe := x.meeting(s, t, usable)
	moved := 0.0
	if moveBuild {
		moved += size
	}
	if moveProbe {
		moved += s.rows * s.width(needed)
	}
	if moveBuild && moveProbe && x.movesInJoin(b, s, t, usable) { // which partitions the rows wherever they are
		return away*size*(row.Receive+row.Store) <= moved/n*away*row.Receive
	}
	return away*(size*row.Receive+rows*insert) <= moved/n*(row.Store+away*row.Receive+row.Read)
}

// width is about how many times 16 bytes the needed columns of a row are.
func (s *stream) width(needed logical.ColSet) float64 {
	bytes := 0
	for _, c := range s.p.AliveBefore(len(s.p.Transforms)) {
		if !needed.Has(c.ID) {
			continue
		}
		switch c.Typ.Phys() {
		case types.PhysInt128, types.PhysString:
			bytes += 16
		default:
			bytes += 8
		}
	}
	return float64(max(bytes, 8)) / 16
}

// meeting finds owners by whom both sides of a join come together with the fewest moves.
func (x *planner) meeting(s *stream, t *physical.Probe, usable []int) (b build, moveBuild, moveProbe bool) {
	ends := x.ends[t.Build]
	if s.lay == spread {
		for _, h := range homesOver(s.homes, t.Keys, usable) {
			there := !slices.ContainsFunc(ends, func(e *stream) bool { return e.lay != spread || !livesAt(e.homes, h.by, h.at, t.Build.Keys) })
			switch {
			case there && (!h.by.isFixed || x.builds[t.Build].reads == 1) && (h.by.slices == nil || h.by.slices.separate(h.by.ordinal, x.places)):
				return h, false, false
			case h.by.slices == nil && !h.by.isFixed:
				b, moveBuild = h, true
			}
		}
	}
	if moveBuild {
		return b, true, false
	}
	if len(ends) == 1 && ends[0].lay == spread {
		for _, h := range homesOver(ends[0].homes, t.Build.Keys, usable) {
			if h.by.slices == nil && !h.by.isFixed {
				return h, false, true
			}
		}
	}
	b.at = usable
	for _, i := range usable {
		b.by.hash += hashOf(t.Keys[i].Type())
	}
	return b, true, true
}

// buildByKeys partitions a build.
func (x *planner) buildByKeys(b *build, s *stream, t *physical.Probe, usable []int) {
	found, move, moveProbe := x.meeting(s, t, usable)
	if move && moveProbe && x.movesInJoin(b, s, t, usable) {
		b.where, b.by, b.at = inJoin, owners{hash: fmt.Sprintf("of join %d", b.id), isFixed: true}, usable
		x.exchanges[t.Build] = Exchange{Kind: Repartition, Reason: "the build and its probe are large, so the join moves rows with equal keys to one GPU"}
		return
	}
	b.where, b.by, b.at = byKeys, found.by, found.at
	if !move {
		return
	}
	t.Build.Keys = x.asColumns(x.ends[t.Build], t.Build.Keys, b.at)
	for _, e := range x.ends[t.Build] {
		if !t.Build.KeepUnmatched {
			dropNulls(e, t.Build.Keys, t.Build.NullSafe, b.at)
		}
		x.moveBefore(t.Build, e, Exchange{Kind: Repartition, Keys: idsOf(t.Build.Keys, b.at), Reason: "the build and its probe are large, so rows with equal keys come to one GPU"})
	}
}

// dropNulls drops rows that match nothing because one of some keys is NULL. They would all go to one owner.
func dropNulls(s *stream, keys []expr.Expr, nullSafe []bool, at []int) {
	var preds []expr.Expr
	for _, i := range at {
		if (i >= len(nullSafe) || !nullSafe[i]) && keys[i].Nullable() {
			preds = append(preds, &expr.Not{Arg: &expr.IsNull{Arg: keys[i]}})
		}
	}
	if len(preds) > 0 {
		s.p.Transforms = append(s.p.Transforms, &physical.Filter{Preds: preds})
	}
}

// movesInJoin says whether a join can move the rows of both sides: all are spread, by all keys, and nobody else reads the build.
func (x *planner) movesInJoin(b *build, s *stream, t *physical.Probe, usable []int) bool {
	return x.t.Moves != nil && x.t.Moves(x.origins[t.Build]) && s.lay == spread && b.reads == 1 && len(usable) == len(t.Keys) &&
		!slices.ContainsFunc(x.ends[t.Build], func(e *stream) bool { return e.lay != spread })
}

// copyBuild gives every place that reads a build all of its rows.
func (x *planner) copyBuild(b *build, into *physical.Build) {
	b.where = copied
	for _, e := range x.ends[into] {
		if e.lay != common {
			x.moveBefore(into, e, Exchange{Kind: Broadcast, Reason: "each GPU needs the whole build"})
		}
	}
}

// buildAtOne has place 0 hold a build.
func (x *planner) buildAtOne(b *build, into *physical.Build) {
	b.where = atOne
	for _, e := range x.ends[into] {
		if e.lay == spread {
			x.moveBefore(into, e, Exchange{Kind: Gather, Reason: "the build, whose unmatched rows are wanted, is on the first GPU"})
		}
		lower(e, "the first GPU has the build")
	}
}

// cover has each place scan, for a build, what its slice of the probe's table needs, if both tables are in the order of one key. It returns false if they are not.
func (x *planner) cover(b *build, s *stream, t *physical.Probe, usable []int) bool {
	ends := x.ends[t.Build]
	if s.slices == nil || len(ends) != 1 || ends[0].slices == nil || b.reads != 1 || x.uncovered[b.id] {
		return false
	}
	e := ends[0]
	for _, h := range homesOver(s.homes, t.Keys, usable) {
		for _, k := range homesOver(e.homes, t.Build.Keys, usable) {
			if h.by.slices == s.slices && k.by.slices == e.slices && h.at[0] == k.at[0] {
				e.slices.follow(s.slices, h.by.ordinal, k.by.ordinal)
				e.reason = fmt.Sprintf("%s, like %s, is in the order of the join's key", e.slices.table.Schema.Name, s.slices.table.Schema.Name)
				b.where, b.by, b.at = covering, h.by, h.at
				return true
			}
		}
	}
	return false
}

// asColumns computes those of some keys, by their numbers, that are no columns, at the end of streams. It returns all keys, those now being columns.
func (x *planner) asColumns(all []*stream, keys []expr.Expr, at []int) []expr.Expr {
	out := slices.Clone(keys)
	var items []logical.Item
	for _, i := range at {
		if _, ok := keys[i].(*expr.Column); ok {
			continue
		}
		it := logical.NewItem(&x.alloc, keys[i].String(), keys[i])
		items, out[i] = append(items, it), it.Col
	}
	for _, s := range all {
		addItems(s, items)
	}
	return out
}

func idsOf(keys []expr.Expr, at []int) (ids []expr.ColumnID) {
	for _, i := range at {
		ids = append(ids, keys[i].(*expr.Column).ID)
	}
	return ids
}

// unmatched begins a stream over the rows of a build that no probe matched.
func (x *planner) unmatched(s *stream, src *physical.UnmatchedScan) {
	b := x.builds[src.Build]
	s.rows = src.Build.EstRows
	s.lay, s.reason = one, "the first GPU has the build"
	if b.where != byKeys && b.where != inJoin {
		return
	}
	s.lay, s.reason = spread, "each GPU has the rows of the build whose keys it owns"
	if b.where == inJoin { // which says nothing of NULL
		return
	}
	h := home{by: b.by}
	for _, i := range b.at {
		c, ok := src.Build.Keys[i].(*expr.Column)
		if !ok || !keeps(src.Build, c) {
			return
		}
		h.cols = append(h.cols, []expr.ColumnID{c.ID})
	}
	s.homes, s.keyed = []home{h}, true
}

// dropFilters takes from scans the runtime filters that would drop rows whose partners are at other places, or that their places do not have.
func (x *planner) dropFilters() {
	for b := range x.builds {
		clear(b.MakeFilter)
		clear(b.FilterDrops)
	}
	for _, s := range x.done {
		scan, ok := s.p.Source.(*physical.TableScan)
		if !ok {
			continue
		}
		scan.RuntimeFilters = slices.DeleteFunc(scan.RuntimeFilters, func(f physical.RuntimeFilterUse) bool {
			switch x.builds[f.Build].where {
			case copied:
				return false
			case atOne:
				return s.lay == spread
			case inJoin:
				return true
			}
			// The rows are where their partners are if they get to the probe without moving.
			return !slices.ContainsFunc(s.p.Transforms, func(t physical.Transform) bool {
				p, ok := t.(*physical.Probe)
				return ok && p.Build == f.Build
			})
		})
		for _, f := range scan.RuntimeFilters {
			f.Build.MakeFilter[f.Key] = true
			if f.Key < len(f.Build.FilterDrops) {
				f.Build.FilterDrops[f.Key] = max(f.Build.FilterDrops[f.Key], f.Drops)
			}
		}
	}
}
