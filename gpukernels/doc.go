// Package gpukernels is the border between Go and the device. exec/gpu hands it the text of kernels, memory to fill and launches
// to make; it hands them to a shared library with the C ABI of include/radish_gpu.h, through purego, without cgo.
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
package gpukernels
