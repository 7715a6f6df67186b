package catalog

import (
	"hash/maphash"
	"iter"
	"slices"
)

// trie is an immutable map from folded names; its zero value is empty. A change copies the nodes on the way to one entry, so it costs the
// same however many entries there are, and tries that come from one another share all other nodes.
type trie[V comparable] struct{ root *trieNode[V] }

// trieNode is a leaf with a few entries, or an inner node, whose children are told apart by the next bits of the names' hashes.
type trieNode[V comparable] struct {
	entries  []trieEntry[V]
	children *[trieFanout]*trieNode[V] // nil: it is a leaf
}

type trieEntry[V comparable] struct {
	name  string
	value V
}

const (
	trieBits   = 4
	trieFanout = 1 << trieBits
	trieLeaf   = 8 // entries of a leaf at most, but at the depth where the hash ends
	trieDepth  = 64 / trieBits
)

var trieSeed = maphash.MakeSeed()

// child returns which child of an inner node at a depth has a name.
func child(name string, depth int) int {
	return int(maphash.String(trieSeed, name)>>(depth*trieBits)) & (trieFanout - 1)
}

// get returns the value of a name, or a zero value.
func (t trie[V]) get(name string) V {
	v, _ := t.root.get(name, 0)
	return v
}

func (n *trieNode[V]) get(name string, depth int) (v V, found bool) {
	for ; n != nil && n.children != nil; depth++ {
		n = n.children[child(name, depth)]
	}
	if n != nil {
		if i := n.index(name); i >= 0 {
			return n.entries[i].value, true
		}
	}
	return v, false
}

// index returns where a leaf has a name; -1: nowhere.
func (n *trieNode[V]) index(name string) int {
	return slices.IndexFunc(n.entries, func(e trieEntry[V]) bool { return e.name == name })
}

// set gives a name a value.
func (t *trie[V]) set(name string, v V) { t.root = t.root.with(trieEntry[V]{name, v}, 0) }

func (n *trieNode[V]) with(e trieEntry[V], depth int) *trieNode[V] {
	if n == nil {
		return &trieNode[V]{entries: []trieEntry[V]{e}}
	}
	if n.children != nil {
		children := *n.children
		at := &children[child(e.name, depth)]
		*at = (*at).with(e, depth+1)
		return &trieNode[V]{children: &children}
	}
	entries := slices.Clone(n.entries)
	if i := n.index(e.name); i >= 0 {
		entries[i] = e
		return &trieNode[V]{entries: entries}
	}
	entries = append(entries, e)
	if len(entries) <= trieLeaf || depth == trieDepth {
		return &trieNode[V]{entries: entries}
	}
	split := &trieNode[V]{children: new([trieFanout]*trieNode[V])}
	for _, e := range entries {
		at := &split.children[child(e.name, depth)]
		*at = (*at).with(e, depth+1)
	}
	return split
}

// remove takes a name out, which need not be there.
func (t *trie[V]) remove(name string) { t.root = t.root.without(name, 0) }

func (n *trieNode[V]) without(name string, depth int) *trieNode[V] {
	switch {
	case n == nil:
		return nil
	case n.children != nil:
		children := *n.children
		at := &children[child(name, depth)]
		*at = (*at).without(name, depth+1)
		if children == [trieFanout]*trieNode[V]{} {
			return nil
		}
		return &trieNode[V]{children: &children}
	}
	i := n.index(name)
	switch {
	case i < 0:
		return n
	case len(n.entries) == 1:
		return nil
	}
	return &trieNode[V]{entries: slices.Delete(slices.Clone(n.entries), i, i+1)}
}

// all gives all names and values, in no order.
func (t trie[V]) all() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) { t.root.each(yield) }
}

func (n *trieNode[V]) each(yield func(string, V) bool) bool {
	if n == nil {
		return true
	}
	for _, e := range n.entries {
		if !yield(e.name, e.value) {
			return false
		}
	}
	if n.children != nil {
		for _, c := range n.children {
			if !c.each(yield) {
				return false
			}
		}
	}
	return true
}

// trieChanges calls f with each name whose values differ. The value is zero where a trie does not have the name. Nodes that the tries share
// are passed over.
func trieChanges[V comparable](before, after trie[V], f func(name string, before, after V)) {
	nodeChanges(before.root, after.root, 0, f)
}

func nodeChanges[V comparable](before, after *trieNode[V], depth int, f func(name string, before, after V)) {
	if before == after {
		return
	}
	if before != nil && after != nil && before.children != nil && after.children != nil {
		for i, b := range before.children {
			nodeChanges(b, after.children[i], depth+1, f)
		}
		return
	}
	var none V
	before.each(func(name string, b V) bool {
		if a, _ := after.get(name, depth); a != b {
			f(name, b, a)
		}
		return true
	})
	after.each(func(name string, a V) bool {
		if _, found := before.get(name, depth); !found {
			f(name, none, a)
		}
		return true
	})
}
