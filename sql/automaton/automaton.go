// Package automaton finds the matches of regular expressions. It gives those of Go's package regexp, several times as fast.
//
// Compile takes a pattern's parsed form. Find and Match read a text once, by a deterministic automaton whose states are made when they are
// first reached. The matches' groups are left to package regexp, and so are patterns of which too many states are met.
package automaton

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Bounds of what an automaton holds: some 300 KiB.
const (
	maxInsts  = 1000    // instructions of a pattern's program
	maxTests  = 1 << 20 // instructions times ranges of characters, all of which are compared once
	maxStates = 1 << 12
	maxSteps  = 1 << 16 // states times classes of characters
)

// unknown stands for a step that has not been taken yet.
const unknown = -1

// dead is the state from which nothing matches.
const dead = 0

// before is what an assertion may ask about the character before a position.
type before uint8

const (
	beforeOther before = iota
	beforeText         // there is none
	beforeLine         // a newline
	beforeWord         // a letter, a digit or _
)

// machine simulates a pattern's program, from left to right or, for the mirrored pattern, from right to left.
type machine struct {
	prog    *syntax.Prog
	longest bool // all alternatives count alike, not the first one
	open    bool // a match may begin anywhere, not only where the text is begun
	asks    syntax.EmptyOp

	ascii   [utf8.RuneSelf]uint16
	starts  []rune   // where ranges of characters begin
	classOf []uint16 // by range
	samples []rune   // by class: one of its characters
	end     int      // the class of the text's end
	width   int

	next   []int32 // state * width + class: the next state * 2, + 1 if what was read before the character matches
	states []state
	index  map[string]int32
	first  [4]int32 // by what is before: where a text is begun, dead until it is made
	full   bool

	scratch scratch
}

// scratch is what one step works with.
type scratch struct {
	seen, out []uint32 // by instruction: the step that came there last
	step      uint32
	list      []uint32
	stack     []uint32
	key       []byte
}

// state is what the program waits for at a position: instructions in the order of preference.
type state struct {
	insts  []uint32
	before before
	open   bool // a match may still begin here
}

func newMachine(e *syntax.Regexp, longest bool) *machine {
	prog, err := syntax.Compile(e)
	if err != nil || len(prog.Inst) > maxInsts {
		return nil
	}
	m := &machine{prog: prog, longest: longest, index: map[string]int32{}, scratch: scratch{seen: make([]uint32, len(prog.Inst)), out: make([]uint32, len(prog.Inst))}}
	for i := range prog.Inst {
		if inst := &prog.Inst[i]; inst.Op == syntax.InstEmptyWidth {
			m.asks |= syntax.EmptyOp(inst.Arg)
		}
	}
	if !m.classify() {
		return nil
	}
	m.state(nil, beforeOther, false) // dead
	return m
}

// classify cuts the characters into classes, whose members no instruction tells apart.
func (m *machine) classify() bool {
	m.starts = []rune{0}
	cut := func(low, high rune) { m.starts = append(m.starts, low, high+1) }
	if m.asks&(syntax.EmptyBeginLine|syntax.EmptyEndLine) != 0 {
		cut('\n', '\n')
	}
	if m.asks&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
		cut('0', '9')
		cut('A', 'Z')
		cut('_', '_')
		cut('a', 'z')
	}
	var readers []*syntax.Inst
	for i := range m.prog.Inst {
		inst := &m.prog.Inst[i]
		switch inst.Op {
		case syntax.InstRuneAnyNotNL:
			cut('\n', '\n')
		case syntax.InstRune, syntax.InstRune1:
			if len(inst.Rune) == 1 {
				cut(inst.Rune[0], inst.Rune[0])
				for r := unicode.SimpleFold(inst.Rune[0]); r != inst.Rune[0]; r = unicode.SimpleFold(r) {
					cut(r, r)
				}
			}
			for k := 0; k+1 < len(inst.Rune); k += 2 {
				cut(inst.Rune[k], inst.Rune[k+1])
			}
		case syntax.InstRuneAny:
		default:
			continue
		}
		readers = append(readers, inst)
	}
	slices.Sort(m.starts)
	m.starts = slices.Compact(m.starts)
	if len(m.starts)*len(readers) > maxTests {
		return false
	}
	known := map[string]uint16{}
	for _, r := range m.starts {
		what := []byte{byte(m.beforeOf(r))}
		for _, inst := range readers {
			if inst.MatchRune(r) {
				what = append(what, 1)
			} else {
				what = append(what, 0)
			}
		}
		class, ok := known[string(what)]
		if !ok {
			class = uint16(len(known))
			known[string(what)] = class
			m.samples = append(m.samples, r)
		}
		m.classOf = append(m.classOf, class)
	}
	m.end = len(m.samples)
	m.width = m.end + 1
	for r := range m.ascii {
		m.ascii[r] = m.wideClass(rune(r))
	}
	return true
}

// wideClass returns the class of any character.
func (m *machine) wideClass(r rune) uint16 {
	at, found := slices.BinarySearch(m.starts, r)
	if !found {
		at--
	}
	return m.classOf[at]
}

// beforeOf returns what r is to assertions that look behind, as far as the program has such.
func (m *machine) beforeOf(r rune) before {
	switch {
	case r == '\n' && m.asks&(syntax.EmptyBeginLine|syntax.EmptyEndLine) != 0:
		return beforeLine
	case m.asks&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 && syntax.IsWordChar(r):
		return beforeWord
	}
	return beforeOther
}

// startAt returns the state at a position of a text with the character r before it; r < 0: there is none.
func (m *machine) startAt(r rune) int32 {
	at := beforeOther
	switch {
	case r >= 0:
		at = m.beforeOf(r)
	case m.asks&(syntax.EmptyBeginText|syntax.EmptyBeginLine) != 0:
		at = beforeText
	}
	if s := m.first[at]; s != dead {
		return s
	}
	if m.open {
		m.first[at] = m.state(nil, at, true)
	} else {
		m.first[at] = m.state([]uint32{uint32(m.prog.Start)}, at, false)
	}
	return m.first[at]
}

// state returns the number of a state, which is made if it is new; dead if there are too many.
func (m *machine) state(insts []uint32, at before, open bool) int32 {
	m.scratch.key = append(m.scratch.key[:0], byte(at))
	if open {
		m.scratch.key[0] |= 1 << 7
	}
	for _, pc := range insts {
		m.scratch.key = binary.LittleEndian.AppendUint16(m.scratch.key, uint16(pc))
	}
	if s, ok := m.index[string(m.scratch.key)]; ok {
		return s
	}
	if len(m.states) >= maxStates || (len(m.states)+1)*m.width > maxSteps {
		m.full = true
		return dead
	}
	s := int32(len(m.states))
	m.index[string(m.scratch.key)] = s
	m.states = append(m.states, state{slices.Clone(insts), at, open})
	for range m.width {
		m.next = append(m.next, unknown)
	}
	return s
}

// take computes the step from a state by a class of characters.
func (m *machine) take(s int32, class int) int32 {
	from := &m.states[s]
	asked, r := m.assertions(from.before, class), rune(-1)
	if class != m.end {
		r = m.samples[class]
	}
	m.scratch.step++
	m.scratch.list = m.scratch.list[:0]
	matches := false
	for _, pc := range from.insts {
		if matches = m.follow(pc, asked) || matches; matches && !m.longest {
			break
		}
	}
	open := from.open && !matches
	if open {
		matches = m.follow(uint32(m.prog.Start), asked)
		open = !matches
	}
	to := int32(dead)
	if r >= 0 {
		insts := m.scratch.stack[:0]
		for _, pc := range m.scratch.list {
			if inst := &m.prog.Inst[pc]; inst.MatchRune(r) && m.scratch.out[inst.Out] != m.scratch.step {
				m.scratch.out[inst.Out] = m.scratch.step
				insts = append(insts, inst.Out)
			}
		}
		m.scratch.stack = insts
		if len(insts) > 0 || open {
			to = m.state(insts, m.beforeOf(r), open)
		}
	}
	t := to * 2
	if matches {
		t++
	}
	if !m.full {
		m.next[int(s)*m.width+class] = t
	}
	return t
}

// follow adds the instructions that read a character and that are reached from pc without reading one, in the order of preference, to m.scratch.list.
// It says whether the end of the program is reached; unless all alternatives count alike, it ends there.
func (m *machine) follow(pc uint32, asked syntax.EmptyOp) (matches bool) {
	stack := append(m.scratch.stack[:0], pc)
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if m.scratch.seen[pc] == m.scratch.step {
			continue
		}
		m.scratch.seen[pc] = m.scratch.step
		switch inst := &m.prog.Inst[pc]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, inst.Arg, inst.Out)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^asked == 0 {
				stack = append(stack, inst.Out)
			}
		case syntax.InstMatch:
			if matches = true; !m.longest {
				m.scratch.stack = stack
				return true
			}
		case syntax.InstFail:
		default:
			m.scratch.list = append(m.scratch.list, pc)
		}
	}
	m.scratch.stack = stack
	return matches
}

// assertions returns those that hold between what is before a position and the class of what comes.
func (m *machine) assertions(at before, class int) syntax.EmptyOp {
	var holds syntax.EmptyOp
	comes := beforeOther
	if class == m.end {
		holds = syntax.EmptyEndText | syntax.EmptyEndLine
	} else if comes = m.beforeOf(m.samples[class]); comes == beforeLine {
		holds = syntax.EmptyEndLine
	}
	switch at {
	case beforeText:
		holds |= syntax.EmptyBeginText | syntax.EmptyBeginLine
	case beforeLine:
		holds |= syntax.EmptyBeginLine
	}
	if (at == beforeWord) != (comes == beforeWord) {
		return holds | syntax.EmptyWordBoundary
	}
	return holds | syntax.EmptyNoWordBoundary
}
