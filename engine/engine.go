package engine

import (
	"context"

	"github.com/radish-sql/radish/engine/calibrate"
	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/query"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// Engine is one in-memory database whose statements can be run. It is safe for concurrent use.
type Engine struct{ *database.Database }

// New returns an empty engine with one database, [database.DefaultDatabase]. It reports an option that makes no sense.
func New(opts database.Options) (*Engine, error) {
	db, err := database.New(opts)
	if err != nil {
		return nil, err
	}
	if err := variables.CheckDevice(db, db.Opts.Device); err != nil {
		return nil, err
	}
	db.Changed = func(changes []catalog.Change) { query.Invest(db, changes) }
	db.Auto.Measure = func(ctx context.Context, d *gpu.Device, c *calibrate.Calibration, threads int) (cost.Table, error) {
		return measureWithin(ctx, db, d, c, threads)
	}
	return &Engine{db}, nil
}

// Register makes a table that was built outside SQL visible under the name in its schema.
func (e *Engine) Register(v *table.Version) error {
	if err := e.Alive(); err != nil {
		return err
	}
	building := &memory.Account{Budget: e.Stored.Budget, Operator: "the registration of a table"}
	return e.Change(building, func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		return snap.CreateTable(v)
	})
}
