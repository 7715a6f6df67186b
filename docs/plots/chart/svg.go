// Package chart draws tables as SVG pictures: bars, or lines over numbers.
package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Sizes in pixels. Pictures have a background of their own, so that they can be read on dark pages too.
const (
	Width     = 760
	left      = 70 // of the axis
	right     = 20
	Top       = 70 // of what stands below the head
	barHeight = 9
	groupGap  = 7
)

// Colours are those of the series.
var Colours = []string{"#c2255c", "#1c7ed6", "#868e96", "#f59f00", "#2f9e44", "#7048e8"}

// Chart is what is drawn of a table.
type Chart struct {
	Title, Unit string
	Label       string      // what a row's label says
	Columns     []string    // the series
	Labels      []string    // of the rows; those of lines are numbers
	Values      [][]float64 // by column and row; 0 or less: there is none
	Logarithmic bool        // the axis of values; and of labels,
	Plain       bool        // unless this is set
}

// scale maps values to pixels.
type scale struct {
	low, high   float64 // of the axis
	from, to    float64 // pixels
	logarithmic bool
}

// newScale returns a scale that holds all values: from 0 on, or between powers of ten.
func newScale(series [][]float64, from, to float64, logarithmic bool) scale {
	s := scale{high: 0, low: math.Inf(1), from: from, to: to, logarithmic: logarithmic}
	for _, values := range series {
		for _, v := range values {
			if s.high = max(s.high, v); v > 0 {
				s.low = min(s.low, v)
			}
		}
	}
	if logarithmic {
		s.low, s.high = math.Pow(10, math.Floor(math.Log10(s.low))), math.Pow(10, math.Ceil(math.Log10(s.high)))
		return s
	}
	s.low = 0
	step := s.step()
	s.high = math.Ceil(s.high/step) * step
	return s
}

// step is the distance of a linear scale's ticks.
func (s scale) step() float64 {
	unit := math.Pow(10, math.Floor(math.Log10(s.high)))
	switch n := s.high / unit; {
	case n < 2:
		return unit / 5
	case n < 5:
		return unit / 2
	}
	return unit
}

// ticks are the values that the axis names.
func (s scale) ticks() (ticks []float64) {
	if s.logarithmic {
		for v := s.low; v <= s.high*1.01; v *= 10 {
			ticks = append(ticks, v)
		}
		return ticks
	}
	for v := 0.0; v <= s.high*1.01; v += s.step() {
		ticks = append(ticks, v)
	}
	return ticks
}

// at is a value's pixel.
func (s scale) at(v float64) float64 {
	share := (v - s.low) / (s.high - s.low)
	if s.logarithmic {
		share = math.Log(v/s.low) / math.Log(s.high/s.low)
	}
	return s.from + share*(s.to-s.from)
}

// Picture is an SVG that is being written.
type Picture struct{ strings.Builder }

// NewPicture begins one of a size.
func NewPicture(width, height int, title string) *Picture {
	p := &Picture{}
	fmt.Fprintf(p, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" font-family="sans-serif" font-size="12">`+"\n", width, height, width, height)
	fmt.Fprintf(p, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n", escape(title))
	return p
}

// Text writes a text; more are attributes.
func (p *Picture) Text(x, y float64, anchor, more, s string) {
	fmt.Fprintf(p, `<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`+"\n", x, y, anchor, more, escape(s))
}

// Line draws a line.
func (p *Picture) Line(x1, y1, x2, y2 float64, colour string) {
	fmt.Fprintf(p, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, colour)
}

// Head writes the title, the unit and the series' names.
func (p *Picture) Head(c *Chart) {
	p.Text(left, 20, "start", ` font-size="15" font-weight="bold"`, c.Title)
	p.Text(left, 38, "start", ` fill="#555555"`, c.Unit)
	if len(c.Columns) < 2 {
		return
	}
	x := float64(left)
	for i, name := range c.Columns {
		name = strings.NewReplacer(", ms", "", " ms", "").Replace(name)
		fmt.Fprintf(p, `<rect x="%.1f" y="47" width="10" height="10" fill="%s"/>`+"\n", x, Colours[i])
		p.Text(x+14, 56, "start", "", name)
		x += 34 + 7*float64(len(name))
	}
}

// End returns the whole text.
func (p *Picture) End() string {
	p.WriteString("</svg>\n")
	return p.String()
}

// Bars draws a bar for each value, those of a row side by side.
func Bars(c *Chart) string {
	group := barHeight*len(c.Columns) + groupGap
	bottom := Top + group*len(c.Labels)
	p := NewPicture(Width, bottom+30, c.Title)
	p.Head(c)
	x := newScale(c.Values, left, Width-right-40, c.Logarithmic)
	for _, v := range x.ticks() {
		p.Line(x.at(v), Top-4, x.at(v), float64(bottom), "#dddddd")
		p.Text(x.at(v), float64(bottom+16), "middle", ` fill="#555555"`, number(v))
	}
	for row, label := range c.Labels {
		y := float64(Top + row*group)
		p.Text(left-8, y+float64(group-groupGap)/2+4, "end", "", label)
		for i := range c.Columns {
			v := c.Values[i][row]
			fmt.Fprintf(p, `<rect x="%d" y="%.1f" width="%.1f" height="%d" fill="%s"/>`+"\n", left, y, x.at(v)-left, barHeight-1, Colours[i])
			p.Text(x.at(v)+4, y+barHeight-1, "start", ` font-size="9" fill="#555555"`, number(v))
			y += barHeight
		}
	}
	return p.End()
}

// Lines draws a line for each column over the labels, which are numbers. Where there is no value, it is interrupted.
func Lines(c *Chart) string {
	const bottom = 360
	p := NewPicture(Width, bottom+40, c.Title)
	p.Head(c)
	var at []float64
	for _, label := range c.Labels {
		v, err := strconv.ParseFloat(strings.ReplaceAll(label, ",", ""), 64)
		if err != nil {
			panic(err) // the table's first column holds numbers
		}
		at = append(at, v)
	}
	x, y := newScale([][]float64{at}, left, Width-right, !c.Plain), newScale(c.Values, bottom, Top, c.Logarithmic)
	for _, v := range x.ticks() {
		p.Line(x.at(v), Top, x.at(v), bottom, "#dddddd")
		p.Text(x.at(v), bottom+16, "middle", ` fill="#555555"`, number(v))
	}
	p.Text((left+Width-right)/2, bottom+34, "middle", ` fill="#555555"`, c.Label)
	for _, v := range y.ticks() {
		p.Line(left, y.at(v), Width-right, y.at(v), "#dddddd")
		p.Text(left-8, y.at(v)+4, "end", ` fill="#555555"`, number(v))
	}
	for i := range c.Columns {
		var points []string
		draw := func() {
			if len(points) > 0 {
				fmt.Fprintf(p, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), Colours[i])
			}
			points = nil
		}
		for row, v := range c.Values[i] {
			if v <= 0 {
				draw()
				continue
			}
			points = append(points, fmt.Sprintf("%.1f,%.1f", x.at(at[row]), y.at(v)))
		}
		draw()
	}
	return p.End()
}

// number writes a value as briefly as it stands in a table.
func number(v float64) string {
	if v >= 1e6 {
		return "10^" + strconv.Itoa(int(math.Round(math.Log10(v))))
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
