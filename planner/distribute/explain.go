package distribute

import (
	"github.com/radish-sql/radish/planner/physical"
)

// Explain has EXPLAIN print how the plan's rows lie and move.
func (d *Distributed) Explain(where *physical.Placement) {
	where.Spread = map[*physical.Pipeline]physical.SpreadText{}
	for p, c := range d.Spread {
		where.Spread[p] = physical.SpreadText{Name: c.Spread.String(), Reason: c.Reason}
	}
	where.Exchanges = map[physical.Sink]physical.ExchangeText{}
	for s, e := range d.Exchanges {
		x := physical.ExchangeText{Name: e.Kind.String(), Reason: e.Reason}
		for _, id := range e.Keys {
			for _, c := range physical.SinkColumns(s) {
				if c.ID == id {
					x.Keys = append(x.Keys, c.Name)
				}
			}
		}
		where.Exchanges[s] = x
	}
}
