package gpukernels

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// libraryName is the file that `make gpu` builds.
const libraryName = "libradish_gpu.so"

// LibraryVariable is the environment variable that names the library's file.
const LibraryVariable = "RADISH_GPU_LIB"

// modulePath is how a source tree of Radish is recognised.
const modulePath = "github.com/radish-sql/radish"

// Options say where Open looks.
type Options struct {
	// Path is the library's file; empty: RADISH_GPU_LIB if it is set, else the folder of the running program, build/ of the Radish
	// source tree that the working folder lies in, and what the system's loader knows.
	Path string
}

// A Library is a loaded device library. It stays loaded as long as the process lives. Its methods may be used from any goroutine.
type Library struct {
	path    string
	symbols [symbolCount]uintptr

	headers includeFolder
	pools   compilerPools
}

// An Attempt is one file that was tried as a library, and why it was not taken.
type Attempt struct {
	Path    string
	Problem string
}

// A LoadError lists every file that Open tried. It is an ErrUnavailable.
type LoadError struct {
	Attempts []Attempt
}

func (e *LoadError) Error() string {
	var b strings.Builder
	b.WriteString("no device library could be loaded; tried")
	for _, a := range e.Attempts {
		fmt.Fprintf(&b, "\n  %s: %s", a.Path, a.Problem)
	}
	b.WriteString("\nBuild it with `make gpu` in Radish's source tree, or name it in " + LibraryVariable + ".")
	return b.String()
}

// Is makes errors.Is(err, ErrUnavailable) true.
func (e *LoadError) Is(target error) bool { return target == ErrUnavailable }

// Open loads a library, or fails with a *LoadError.
func Open(o Options) (*Library, error) {
	failed := &LoadError{}
	for _, path := range candidates(o) {
		l, err := load(path)
		if err == nil {
			return l, nil
		}
		failed.Attempts = append(failed.Attempts, Attempt{path, err.Error()})
	}
	return nil, failed
}

var defaultLibrary = sync.OnceValues(func() (*Library, error) { return Open(Options{}) })

// Default is Open without options, tried once in the life of the process.
func Default() (*Library, error) { return defaultLibrary() }

// candidates lists the files to try. One that the user named is the only one: nothing else is taken silently in its stead.
func candidates(o Options) (out []string) {
	if o.Path != "" {
		return []string{o.Path}
	}
	if path := os.Getenv(LibraryVariable); path != "" {
		return []string{path}
	}
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		out = append(out, filepath.Join(filepath.Dir(exe), libraryName))
	}
	if root := sourceTree(); root != "" {
		if path := filepath.Join(root, "build", libraryName); !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return append(out, libraryName)
}

// sourceTree finds the Radish source tree that the working folder lies in; "": none. Libraries of any other working folder are not
// loaded: who can write there is not who runs the program.
func sourceTree() string {
	dir, err := os.Getwd()
	for err == nil {
		if mod, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			first, _, _ := strings.Cut(string(mod), "\n")
			if strings.TrimSpace(first) == "module "+modulePath {
				return dir
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return ""
}

// load loads one file and checks that it is what this binding was written for.
func load(path string) (*Library, error) {
	if strings.ContainsRune(path, '/') {
		if _, err := os.Stat(path); err != nil {
			if os.IsNotExist(err) {
				return nil, fmt.Errorf("there is no such file")
			}
			return nil, err
		}
	}
	handle, err := dlOpen(path)
	if err != nil {
		return nil, err
	}
	l := &Library{path: path}
	if err := l.bind(handle); err != nil {
		dlClose(handle)
		return nil, err
	}
	return l, nil
}

func (l *Library) bind(handle uintptr) error {
	for i := range functions {
		name := symbolPrefix + functions[i].name
		address, err := dlSym(handle, name)
		if err != nil || address == 0 {
			if symbol(i) == fnABIVersion {
				return fmt.Errorf("this is no device library: it has no function %s", name)
			}
			return fmt.Errorf("it has no function %s: built from other sources than this program? Run `make gpu` again", name)
		}
		l.symbols[i] = address
		if symbol(i) == fnABIVersion { // before anything else of it is relied on
			if v := int32(l.callVoid(fnABIVersion)); v != abiVersion {
				return fmt.Errorf("it has version %d of the interface, and this program needs version %d; run `make gpu` again", v, abiVersion)
			}
		}
	}
	for _, s := range []struct {
		name string
		size uintptr
	}{
		{"radish_gpu_error", unsafe.Sizeof(cError{})}, {"radish_gpu_device_info", unsafe.Sizeof(cDeviceInfo{})}, {"radish_gpu_items", unsafe.Sizeof(Items{})},
		{"radish_gpu_piece", unsafe.Sizeof(Piece{})}, {"radish_gpu_range", unsafe.Sizeof(Range{})}, {"radish_gpu_frame", unsafe.Sizeof(Frame{})},
	} {
		if got := int64(l.callVoid(fnSizeof, uintptr(unsafe.Pointer(cText(s.name))))); got != int64(s.size) {
			return fmt.Errorf("its %s has %d bytes instead of %d; run `make gpu` again", s.name, got, s.size)
		}
	}
	return nil
}

// Path is the file that was loaded, or the name that the system's loader resolved.
func (l *Library) Path() string { return l.path }

// ABIVersion is the version of the interface that program and library agree on.
func (l *Library) ABIVersion() int { return abiVersion }

// DeviceInfo describes a device.
type DeviceInfo struct {
	Name              string
	Library           string // "cuda" or "emulated"
	Ordinal           int
	ComputeCapability int // 90 for 9.0; 0: emulated
	DriverVersion     int // 13000 for CUDA 13.0
	Multiprocessors   int
	WarpSize          int   // 1: emulated
	MaxThreads        int   // of a block; 1: emulated
	SharedBytes       int64 // that a block may ask for
	L2Bytes           int64
	MemoryBytes       int64
	MemoryFree        int64 // when asked
}

// Emulated says that the device is the processor playing one.
func (i DeviceInfo) Emulated() bool { return i.Library == "emulated" }

// Devices describes all devices. No driver and no device are errors, of the kind ErrUnavailable, that say what is missing.
func (l *Library) Devices() ([]DeviceInfo, error) {
	var count int32
	if err := l.call(fnDeviceCount, uintptr(unsafe.Pointer(&count))); err != nil {
		return nil, err
	}
	out := make([]DeviceInfo, count)
	for i := range out {
		var err error
		if out[i], err = l.query(i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (l *Library) query(ordinal int) (DeviceInfo, error) {
	var c cDeviceInfo
	if err := l.call(fnDeviceQuery, uintptr(ordinal), uintptr(unsafe.Pointer(&c))); err != nil {
		return DeviceInfo{}, err
	}
	return DeviceInfo{
		Name: cString(c.name[:]), Library: cString(c.library[:]), Ordinal: int(c.ordinal), ComputeCapability: int(c.computeCapability),
		DriverVersion: int(c.driverVersion), Multiprocessors: int(c.multiprocessors), WarpSize: int(c.warpSize),
		MaxThreads: int(c.maxThreads), SharedBytes: c.sharedBytes, L2Bytes: c.l2Bytes, MemoryBytes: c.memoryBytes, MemoryFree: c.memoryFree,
	}, nil
}

// compilerVersion names the compiler and what every source is compiled with.
func (l *Library) compilerVersion() (string, error) {
	text := make([]byte, 256)
	err := l.call(fnCompilerVersion, 0, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)))
	return cString(text), err
}

// Compile compiles a source for a compute capability (90: sm_90) in this process, without a device, and gives the image. The cache is not used.
func (l *Library) Compile(computeCapability int, source string, options ...string) ([]byte, error) {
	include, err := l.headers.path()
	if err != nil {
		return nil, err
	}
	var image *byte
	var size int64
	err = l.call(fnCompileFor, uintptr(computeCapability), uintptr(unsafe.Pointer(cText(source))), uintptr(unsafe.Pointer(cText(include))),
		uintptr(unsafe.Pointer(cText(strings.Join(options, "\n")))), uintptr(unsafe.Pointer(&image)), uintptr(unsafe.Pointer(&size)))
	if err != nil {
		return nil, err
	}
	out := append([]byte(nil), unsafe.Slice(image, size)...)
	l.callVoid(fnImageFree, uintptr(unsafe.Pointer(image)))
	return out, nil
}
