package profile

import "sync/atomic"

// Progress counts what a running query has done. The executor writes it, anyone may read it; a nil *Progress counts
// nothing.
type Progress struct {
	total, scanned, rows      atomic.Int64
	pipelines, done, pipeline atomic.Int64
	gpu                       atomic.Bool

	// Of the file that is read into memory before the plan runs.
	file            atomic.Pointer[string]
	size, readBytes atomic.Int64
}

// Read says that a file of about so many bytes is read into memory; an empty name: none is.
func (p *Progress) Read(file string, bytes int64) {
	if p != nil {
		p.readBytes.Store(0)
		p.size.Store(bytes)
		p.file.Store(&file)
	}
}

// AddRead counts bytes of the file.
func (p *Progress) AddRead(bytes int64) {
	if p != nil {
		p.readBytes.Add(bytes)
	}
}

// Plan says what there is to do: rows of tables that the plan's scans will look at, and pipelines.
func (p *Progress) Plan(rows int64, pipelines int) {
	if p != nil {
		p.total.Store(rows)
		p.scanned.Store(0)
		p.rows.Store(0)
		p.done.Store(0)
		p.pipelines.Store(int64(pipelines))
	}
}

// Begin says that a pipeline starts, and whether on a GPU.
func (p *Progress) Begin(id int, onGPU bool) {
	if p != nil {
		p.pipeline.Store(int64(id))
		p.gpu.Store(onGPU)
	}
}

// Add counts rows that a pipeline's source gave or skipped, and of them those that are a table's.
func (p *Progress) Add(rows, scanned int64) {
	if p != nil {
		p.rows.Add(rows)
		p.scanned.Add(scanned)
	}
}

// End says that a pipeline has run.
func (p *Progress) End() {
	if p != nil {
		p.done.Add(1)
	}
}

// Snapshot is a Progress at one moment.
type Snapshot struct {
	Rows          int64 // rows that went into pipelines, from tables and from what earlier pipelines made
	Scanned       int64 // rows of tables among them
	Total         int64 // rows of tables that will have been scanned in the end; a recursion may scan more
	Pipelines     int
	PipelinesDone int
	Pipeline      int  // the one that runs
	OnGPU         bool // it runs on a GPU

	Reading   string // the file that is read into memory, before the plan runs; empty: none
	FileBytes int64  // about how many bytes are read of it
	ReadBytes int64  // and how many were
}

// Snapshot returns the counts.
func (p *Progress) Snapshot() Snapshot {
	if p == nil {
		return Snapshot{}
	}
	file := ""
	if name := p.file.Load(); name != nil {
		file = *name
	}
	return Snapshot{
		Reading: file, FileBytes: p.size.Load(), ReadBytes: p.readBytes.Load(),
		Rows: p.rows.Load(), Scanned: p.scanned.Load(), Total: p.total.Load(), Pipelines: int(p.pipelines.Load()),
		PipelinesDone: int(p.done.Load()), Pipeline: int(p.pipeline.Load()), OnGPU: p.gpu.Load(),
	}
}
