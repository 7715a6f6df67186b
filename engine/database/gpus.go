package database

import (
	"github.com/radish-sql/radish/exec/gpu"
)

// Fleet are all GPUs that can work together. They are opened when one of them is first asked for.
func (db *Database) Fleet() *gpu.Fleet { return gpu.OpenFleet(db.Opts.GPULibrary, nil) }

// GPU returns the GPU of the process that comes first.
func (db *Database) GPU() (*gpu.Device, error) { return db.Limited(db.Fleet()).First() }

// GPUIfOpen is the GPU if somebody has asked for it, and it could be opened.
func (db *Database) GPUIfOpen() (d *gpu.Device, ok bool) { return gpu.AnyOpen(db.Opts.GPULibrary) }

// Limited has devices keep to the engine's limit, each of them, for as long as the engine lives.
func (db *Database) Limited(f *gpu.Fleet) *gpu.Fleet {
	if db.Opts.GPUMemoryLimit > 0 && !db.Closed.Load() {
		f.LimitMemory(db, db.Opts.GPUMemoryLimit)
	}
	return f
}
