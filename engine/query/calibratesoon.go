package query

import (
	"github.com/radish-sql/radish/engine/calibrate"
	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

const (
	// backgroundRows are the rows of the largest table of a calibration that nobody has asked for; backgroundMemory is the least memory limit under which it
	// leaves enough for other work.
	backgroundRows   = calibrate.Rows / 2
	backgroundMemory = 2 << 30
)

// calibrateSoon measures what work costs on this machine, once, in pauses between queries, if nobody has. What an engine's end cuts short another one does.
func calibrateSoon(e *database.Database, d *gpu.Device) {
	limit := e.Opts.MemoryLimit
	if d.Emulated() && !e.Auto.Emulated || limit > 0 && limit < backgroundMemory || !d.ClaimCalibration() {
		return
	}
	rows := backgroundRows
	if d.Emulated() {
		rows = calibrate.EmulatedRows
	}
	go func() {
		e.Auto.Measuring.Store(true)
		defer e.Auto.Measuring.Store(false)
		_ = sqlerr.Guard(func() error { // without it the costs are those that were there before
			costs, err := e.Auto.Measure(e.Ctx, d, &calibrate.Calibration{Rows: rows, Quiet: d.Advisor()}, e.Opts.Threads)
			if err == nil {
				err = d.Calibrated(costs)
			} else if e.Ctx.Err() != nil {
				d.ReleaseCalibration()
			}
			return err
		})
	}()
}

// Invest has the columns of tables uploaded that are new, or have grown by half, and large enough for a GPU.
func Invest(e *database.Database, changes []catalog.Change) {
	if e.Opts.Device == gpu.Never {
		return
	}
	var grown []*table.Version
	for _, c := range changes {
		if c.After == nil || float64(c.After.Rows()) < e.Auto.LeastRows || c.Before != nil && c.After.Rows() < c.Before.Rows()+c.Before.Rows()/2 {
			continue
		}
		grown = append(grown, c.After)
	}
	if len(grown) == 0 {
		return
	}
	go func() {
		_ = sqlerr.Guard(func() error {
			d, err := e.GPU()
			if err != nil || d.Emulated() && !e.Auto.Emulated {
				return nil
			}
			for _, v := range grown {
				d.Invest(v)
			}
			calibrateSoon(e, d)
			return nil
		})
	}()
}
