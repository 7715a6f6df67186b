package catalog

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
)

// TestTrie changes tries and maps alike at random. Former states stay what they were, and what differs between two of them is found.
func TestTrie(t *testing.T) {
	type state struct {
		trie trie[int]
		want map[string]int
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		names := []int{4, 60, 3000}[seed%3]
		states := []state{{want: map[string]int{}}}
		for range 30 {
			s := states[r.IntN(len(states))]
			next := state{s.trie, maps.Clone(s.want)}
			for range r.IntN(2 * names) {
				name := fmt.Sprint("t", r.IntN(names))
				if r.IntN(3) == 0 {
					next.trie.remove(name)
					delete(next.want, name)
				} else {
					v := 1 + r.IntN(3)
					next.trie.set(name, v)
					next.want[name] = v
				}
			}
			states = append(states, next)
		}
		for i, s := range states {
			if got := maps.Collect(s.trie.all()); !maps.Equal(got, s.want) {
				t.Fatalf("seed %d: state %d is %v, not %v", seed, i, got, s.want)
			}
			for n := range names {
				if name := fmt.Sprint("t", n); s.trie.get(name) != s.want[name] {
					t.Fatalf("seed %d: state %d has %d for %s, not %d", seed, i, s.trie.get(name), name, s.want[name])
				}
			}
			other := states[r.IntN(len(states))]
			want, got := map[string][2]int{}, map[string][2]int{}
			for n := range names {
				if name := fmt.Sprint("t", n); s.want[name] != other.want[name] {
					want[name] = [2]int{s.want[name], other.want[name]}
				}
			}
			trieChanges(s.trie, other.trie, func(name string, before, after int) {
				if _, twice := got[name]; twice {
					t.Errorf("seed %d: %s changes twice", seed, name)
				}
				got[name] = [2]int{before, after}
			})
			if !maps.Equal(got, want) {
				t.Fatalf("seed %d: changes %v, not %v", seed, got, want)
			}
		}
	}
}

// A change of a trie with many entries shares nearly all of its nodes.
func TestTrieSharesNodes(t *testing.T) {
	var tr trie[int]
	for i := range 20000 {
		tr.set(fmt.Sprint("t", i), i)
	}
	next := tr
	next.set("t77", -1)
	seen := map[*trieNode[int]]bool{}
	var nodes func(n *trieNode[int], f func(*trieNode[int]))
	nodes = func(n *trieNode[int], f func(*trieNode[int])) {
		if n == nil {
			return
		}
		f(n)
		if n.children != nil {
			for _, c := range n.children {
				nodes(c, f)
			}
		}
	}
	nodes(tr.root, func(n *trieNode[int]) { seen[n] = true })
	fresh := 0
	nodes(next.root, func(n *trieNode[int]) {
		if !seen[n] {
			fresh++
		}
	})
	if fresh == 0 || fresh > trieDepth {
		t.Errorf("one change made %d new nodes beside %d", fresh, len(seen))
	}
}
