package database

import (
	"flag"
	"os"
	"runtime"
	"runtime/pprof"
)

// Profiler writes profiles of the queries, and of the load before them if asked.
type Profiler struct {
	OfLoad             bool
	cpuPath, allocPath string
	cpu                *os.File
	rate               int // runtime.MemProfileRate while queries run
}

func (p *Profiler) Register(fs *flag.FlagSet) {
	fs.BoolVar(&p.OfLoad, "profile-load", false, "let the profiles include the load")
	fs.StringVar(&p.cpuPath, "cpuprofile", "", "write a CPU profile of the queries to this file")
	fs.StringVar(&p.allocPath, "memprofile", "", "write a profile of what the queries allocated to this file")
}

// Hold keeps allocations out of the profile until start.
func (p *Profiler) Hold() {
	p.rate = runtime.MemProfileRate
	runtime.MemProfileRate = 0
}

func (p *Profiler) Start() error {
	if p.allocPath != "" && !p.OfLoad {
		runtime.MemProfileRate = p.rate
	}
	if p.cpuPath == "" {
		return nil
	}
	var err error
	if p.cpu, err = os.Create(p.cpuPath); err != nil {
		return err
	}
	return pprof.StartCPUProfile(p.cpu)
}

func (p *Profiler) Stop() error {
	if p.cpu != nil {
		pprof.StopCPUProfile()
		if err := p.cpu.Close(); err != nil {
			return err
		}
	}
	if p.allocPath == "" {
		return nil
	}
	file, err := os.Create(p.allocPath)
	if err != nil {
		return err
	}
	if err := pprof.Lookup("allocs").WriteTo(file, 0); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
