package gpukernels

import "sync"

// compilerPools are the Compilers of a library's devices, by compute capability: devices of one kind run the same images.
type compilerPools struct {
	mutex sync.Mutex
	open  map[int]*compilerPool
}

type compilerPool struct {
	compilers *Compilers
	users     int // devices
}

// take gives a device its compilers.
func (p *compilerPools) take(l *Library, capability int) *Compilers {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	x := p.open[capability]
	if x == nil {
		x = &compilerPool{compilers: l.NewCompilers(capability, -1)}
		if p.open == nil {
			p.open = map[int]*compilerPool{}
		}
		p.open[capability] = x
	}
	x.users++
	return x.compilers
}

// give takes them back. Those of the last device are closed.
func (p *compilerPools) give(c *Compilers) {
	p.mutex.Lock()
	last := false
	for capability, x := range p.open {
		if x.compilers != c {
			continue
		}
		if x.users--; x.users == 0 {
			delete(p.open, capability)
			last = true
		}
	}
	p.mutex.Unlock()
	if last {
		c.Close()
	}
}

// recentImages are compilations that still run or ended recently, by the keys of their images.
type recentImages struct {
	of   map[string]*compilation
	keys []string // in the order in which they were begun
}

// keptImages is how many of them are kept: each has some 50 KB.
const keptImages = 64

// find returns a compilation that has made an image or is making it; nil: there is none.
func (r *recentImages) find(key string) *compilation {
	if x := r.of[key]; x != nil && !x.failed() {
		return x
	}
	return nil
}

// failed says whether a compilation has ended without an image.
func (x *compilation) failed() bool {
	select {
	case <-x.done:
		return x.err != nil
	default:
		return false
	}
}

func (r *recentImages) add(key string, x *compilation) {
	if r.of == nil {
		r.of = map[string]*compilation{}
	}
	if _, ok := r.of[key]; !ok {
		r.keys = append(r.keys, key)
	}
	r.of[key] = x
	if len(r.keys) > keptImages {
		delete(r.of, r.keys[0])
		r.keys = append([]string(nil), r.keys[1:]...)
	}
}

// forget is for benchmarks: what was compiled lately is compiled again.
func (c *Compilers) forget() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.recent = recentImages{}
}
