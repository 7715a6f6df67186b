package chart

import (
	"strings"
	"testing"
)

// A value lies where its scale says, and a bar of twice the value is twice as long.
func TestScale(t *testing.T) {
	s := newScale([][]float64{{3, 38}}, 100, 500, false)
	if s.high != 40 || s.at(0) != 100 || s.at(20) != 300 || s.at(40) != 500 {
		t.Errorf("linear: %+v, 20 at %v", s, s.at(20))
	}
	s = newScale([][]float64{{3, 380}}, 0, 300, true)
	if s.low != 1 || s.high != 1000 || s.at(1) != 0 || s.at(10) < 99.9 || s.at(10) > 100.1 || len(s.ticks()) != 4 {
		t.Errorf("logarithmic: %+v, 10 at %v, ticks %v", s, s.at(10), s.ticks())
	}
}

// Where a series has no value, its line ends, and another one begins behind it.
func TestLinesInterrupted(t *testing.T) {
	c := Chart{Title: "t", Columns: []string{"a", "b"}, Labels: []string{"0", "1", "2", "3"}, Values: [][]float64{{1, 2, 0, 3}, {1, 2, 4, 8}}, Logarithmic: true, Plain: true}
	if got := strings.Count(Lines(&c), "<polyline"); got != 3 {
		t.Errorf("%d lines, want 3", got)
	}
}
