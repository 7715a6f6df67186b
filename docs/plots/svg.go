package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Sizes in pixels. Pictures have a background of their own, so that they can be read on dark pages too.
const (
	width     = 760
	left      = 70 // of the axis
	right     = 20
	top       = 70
	barHeight = 9
	groupGap  = 7
)

var colours = []string{"#c2255c", "#1c7ed6", "#868e96", "#f59f00"}

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
			s.low, s.high = min(s.low, v), max(s.high, v)
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

// picture is an SVG that is being written.
type picture struct{ strings.Builder }

func newPicture(width, height int, title string) *picture {
	p := &picture{}
	fmt.Fprintf(p, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" font-family="sans-serif" font-size="12">`+"\n", width, height, width, height)
	fmt.Fprintf(p, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n", escape(title))
	return p
}

func (p *picture) text(x, y float64, anchor, more, s string) {
	fmt.Fprintf(p, `<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`+"\n", x, y, anchor, more, escape(s))
}

func (p *picture) line(x1, y1, x2, y2 float64, colour string) {
	fmt.Fprintf(p, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, colour)
}

// head writes the title, the unit and the series' names.
func (p *picture) head(c *chart) {
	p.text(left, 20, "start", ` font-size="15" font-weight="bold"`, c.title)
	p.text(left, 38, "start", ` fill="#555555"`, c.unit)
	if len(c.columns) < 2 {
		return
	}
	x := float64(left)
	for i, name := range c.columns {
		name = strings.NewReplacer(", ms", "", " ms", "").Replace(name)
		fmt.Fprintf(p, `<rect x="%.1f" y="47" width="10" height="10" fill="%s"/>`+"\n", x, colours[i])
		p.text(x+14, 56, "start", "", name)
		x += 34 + 7*float64(len(name))
	}
}

func (p *picture) end() string {
	p.WriteString("</svg>\n")
	return p.String()
}

// bars draws a bar for each value, those of a row side by side.
func bars(c *chart) string {
	group := barHeight*len(c.columns) + groupGap
	bottom := top + group*len(c.labels)
	p := newPicture(width, bottom+30, c.title)
	p.head(c)
	x := newScale(c.values, left, width-right-40, c.logarithmic)
	for _, v := range x.ticks() {
		p.line(x.at(v), top-4, x.at(v), float64(bottom), "#dddddd")
		p.text(x.at(v), float64(bottom+16), "middle", ` fill="#555555"`, number(v))
	}
	for row, label := range c.labels {
		y := float64(top + row*group)
		p.text(left-8, y+float64(group-groupGap)/2+4, "end", "", label)
		for i := range c.columns {
			v := c.values[i][row]
			fmt.Fprintf(p, `<rect x="%d" y="%.1f" width="%.1f" height="%d" fill="%s"/>`+"\n", left, y, x.at(v)-left, barHeight-1, colours[i])
			p.text(x.at(v)+4, y+barHeight-1, "start", ` font-size="9" fill="#555555"`, number(v))
			y += barHeight
		}
	}
	return p.end()
}

// lines draws a line for each column over the labels, which are numbers.
func lines(c *chart) string {
	const bottom = 360
	p := newPicture(width, bottom+40, c.title)
	p.head(c)
	var at []float64
	for _, label := range c.labels {
		v, err := strconv.ParseFloat(strings.ReplaceAll(label, ",", ""), 64)
		if err != nil {
			panic(err) // the table's first column holds numbers
		}
		at = append(at, v)
	}
	x, y := newScale([][]float64{at}, left, width-right, true), newScale(c.values, bottom, top, c.logarithmic)
	for _, v := range x.ticks() {
		p.line(x.at(v), top, x.at(v), bottom, "#dddddd")
		p.text(x.at(v), bottom+16, "middle", ` fill="#555555"`, number(v))
	}
	p.text((left+width-right)/2, bottom+34, "middle", ` fill="#555555"`, c.label)
	for _, v := range y.ticks() {
		p.line(left, y.at(v), width-right, y.at(v), "#dddddd")
		p.text(left-8, y.at(v)+4, "end", ` fill="#555555"`, number(v))
	}
	for i := range c.columns {
		var points []string
		for row, v := range c.values[i] {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x.at(at[row]), y.at(v)))
		}
		fmt.Fprintf(p, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), colours[i])
	}
	return p.end()
}

// terminal draws a session of the shell.
func terminal(session string) string {
	const lineHeight, indent = 17, 16
	rows := strings.Split(strings.TrimRight(session, "\n"), "\n")
	longest := 0
	for _, row := range rows {
		longest = max(longest, len(row))
	}
	p := newPicture(2*indent+longest*78/10, lineHeight*len(rows)+2*indent, "A session of the shell") // a character of 12.5 px is some 7.6 wide
	p.WriteString("<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1b1f24\"/>\n<g font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"12.5\" xml:space=\"preserve\">\n")
	for i, row := range rows {
		colour := "#d0d7de"
		switch {
		case strings.HasPrefix(row, "ERROR"):
			colour = "#ff7b72"
		case strings.HasPrefix(row, "Hint"):
			colour = "#7ee787"
		case strings.HasPrefix(row, "radish>"), strings.HasPrefix(row, "     ->"), strings.HasPrefix(row, "$ "):
			colour = "#a5d6ff"
		}
		p.text(indent, float64(indent+lineHeight*i+12), "start", fmt.Sprintf(` fill="%s"`, colour), row)
	}
	p.WriteString("</g>\n")
	return p.end()
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
