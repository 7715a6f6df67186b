package main

import (
	"context"
	"fmt"

	"github.com/radish-sql/radish/docs/plots/chart"
	"github.com/radish-sql/radish/exec/gpu/hashlab"
)

// hashSpread draws, for hashes of a width, the share of normally distributed keys whose hashes lie below each value: a field for each function, in which keys of one, two and four chunks
// have a line each. Hashes that are spread evenly give the diagonal.
func hashSpread(bits int) (string, error) {
	const (
		keys, steps   = 100_000, 100
		across        = 5
		side, between = 118, 22.0
	)
	functions := []string{"add", "add_shift", "add_hw", "mult", "mult_shift", "mult_hw", "xor", "xor_shift", "xor_hw", "xor_mult", "xor_mult_shift", "xor_mult_hw", "n_xor_mult_shift", "fnv1a", "gpu_string"}
	down := (len(functions) + across - 1) / across
	title := fmt.Sprintf("Hashes of %d bits", bits)
	p := chart.NewPicture(chart.Width, chart.Top+down*(side+between)+10, title)
	p.Head(&chart.Chart{Title: title, Unit: "share of keys (up) whose hash is at most a value (across); normally distributed keys", Columns: []string{"1 chunk", "2 chunks", "4 chunks"}})
	for i, name := range functions {
		x, y := 20+float64(i%across)*(side+between), chart.Top+10+float64(i/across)*(side+between)
		fmt.Fprintf(p, `<rect x="%.1f" y="%.1f" width="%d" height="%d" fill="none" stroke="#dddddd"/>`+"\n", x, y, side, side)
		p.Text(x, y-4, "start", ` font-size="11"`, name)
		for series, chunks := range []int{1, 2, 4} {
			shares, err := hashlab.Shares(context.Background(), hashlab.Find(name).Program(4*chunks, bits), hashlab.Normal(chunks, keys), steps)
			if err != nil {
				return "", err
			}
			p.WriteString(`<polyline fill="none" stroke="` + chart.Colours[series] + `" points="`)
			for at, share := range shares {
				fmt.Fprintf(p, "%.1f,%.1f ", x+side*float64(at)/steps, y+side*(1-share))
			}
			p.WriteString("\"/>\n")
		}
	}
	return p.End(), nil
}
