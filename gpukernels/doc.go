// Package gpukernels is the border between Go and the device. exec/gpu hands it the text of kernels, memory to fill and launches
// to make. It hands them to a shared library with the C ABI of include/radish_gpu.h, through purego, without cgo.
//
// Open finds and checks the library and says of every file that it tried why it failed. A Library lists Devices; OpenDevice
// gives a Device, which compiles and keeps kernels (Load) and makes Streams; all work and all memory belongs to a stream:
//
//	lib, err := gpukernels.Open(gpukernels.Options{})
//	dev, err := lib.OpenDevice(0)
//	mod, origin, err := dev.Load(ctx, source)    // from memory, from the disk cache, or compiled
//	f, err := mod.Function("pipeline")
//	s, err := dev.NewStream()
//	p, err := s.Alloc(8 * n)                      // in order with the stream's other work
//	err = s.Launch(f, grid, block, shared, []uint64{uint64(p), n})
//	err = s.Sync(ctx)                             // ends when the work has ended, or ctx
//
// Two libraries implement the ABI: libradish_gpu (src/cuda) and, for tests, libradish_emulated (src/emulated), which compiles the
// same kernels for the processor with one thread a block; see package gputest.
//
// The files:
//
//   - library.go, abi.go: finding and checking the library, and its C structs and calls; dl_linux.go (elsewhere dl_other.go) loads it, error.go has its errors.
//   - device.go, stream.go, module.go, signal.go, hostmemory.go, peers.go: what the library gives; signals to kernels that run; pinned memory; several devices.
//   - kernels.go, columns.go: calls of the library's own kernels; columns.go has those that bring results into the form of tables.
//   - headers.go, excerpt.go: the device headers, and which of their definitions a kernel gets.
//   - cache.go: compiled kernels in files. compilers.go and compilerpools.go: processes that compile, for a device and for all; compilequeue.go: whose turn it is.
//   - worker.go, worker_linux.go (elsewhere worker_other.go): one such process. emulated.go builds the emulated library.
//   - busy.go, timeline.go: what tasks take, and when the device did what.
package gpukernels
