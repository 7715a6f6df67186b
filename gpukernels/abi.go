package gpukernels

import (
	"bytes"
	"sync"
	"unsafe"
)

// abiVersion is RADISH_GPU_ABI_VERSION of the header that this binding was written for. binding_test.go compares all of this
// file with the header.
const abiVersion = 10

// cError is radish_gpu_error.
type cError struct {
	kind    int32
	code    int32
	message [2040]byte
}

// cDeviceInfo is radish_gpu_device_info.
type cDeviceInfo struct {
	name              [128]byte
	library           [64]byte
	ordinal           int32
	computeCapability int32
	driverVersion     int32
	multiprocessors   int32
	warpSize          int32
	maxThreads        int32
	sharedBytes       int64
	l2Bytes           int64
	memoryBytes       int64
	memoryFree        int64
}

// symbol is a function of the ABI.
type symbol int

const (
	fnABIVersion symbol = iota
	fnSizeof
	fnDeviceCount
	fnDeviceQuery
	fnDeviceOpen
	fnDeviceClose
	fnStreamCreate
	fnStreamDestroy
	fnStreamSync
	fnStreamQuery
	fnEventCreate
	fnEventDestroy
	fnEventRecord
	fnEventElapsed
	fnStreamWait
	fnPeerCan
	fnPeerEnable
	fnPeerCopy
	fnAlloc
	fnFree
	fnMemory
	fnTrim
	fnFailAllocation
	fnHostAlloc
	fnHostFree
	fnUpload
	fnUploadPinned
	fnUploadItems
	fnDownload
	fnDownloadPieces
	fnDownloadBegin
	fnCopy
	fnFill
	fnCompileFor
	fnImageFree
	fnCompilerVersion
	fnModuleLoad
	fnModuleUnload
	fnModuleFunction
	fnFunctionInfo
	fnLaunch
	fnExclusiveScan
	fnSortPairs
	fnGather
	fnStringOffsets
	fnStringCopy
	fnGroupRanges
	fnGroupNarrow
	fnPackBits
	symbolCount
)

// functions has the name of each symbol, behind "radish_gpu_", and how many arguments it takes, the error included.
var functions = [symbolCount]struct {
	name string
	args int
}{
	fnABIVersion:      {"abi_version", 0},
	fnSizeof:          {"sizeof", 1},
	fnDeviceCount:     {"device_count", 2},
	fnDeviceQuery:     {"device_query", 3},
	fnDeviceOpen:      {"device_open", 3},
	fnDeviceClose:     {"device_close", 1},
	fnStreamCreate:    {"stream_create", 3},
	fnStreamDestroy:   {"stream_destroy", 1},
	fnStreamSync:      {"stream_sync", 2},
	fnStreamQuery:     {"stream_query", 3},
	fnEventCreate:     {"event_create", 3},
	fnEventDestroy:    {"event_destroy", 1},
	fnEventRecord:     {"event_record", 3},
	fnEventElapsed:    {"event_elapsed", 4},
	fnStreamWait:      {"stream_wait", 3},
	fnPeerCan:         {"peer_can", 4},
	fnPeerEnable:      {"peer_enable", 3},
	fnPeerCopy:        {"peer_copy", 6},
	fnAlloc:           {"alloc", 4},
	fnFree:            {"free", 3},
	fnMemory:          {"memory", 5},
	fnTrim:            {"trim", 2},
	fnFailAllocation:  {"fail_allocation", 3},
	fnHostAlloc:       {"host_alloc", 4},
	fnHostFree:        {"host_free", 2},
	fnUpload:          {"upload", 5},
	fnUploadPinned:    {"upload_pinned", 5},
	fnUploadItems:     {"upload_items", 6},
	fnDownload:        {"download", 5},
	fnDownloadPieces:  {"download_pieces", 5},
	fnDownloadBegin:   {"download_begin", 5},
	fnCopy:            {"copy", 5},
	fnFill:            {"fill", 6},
	fnCompileFor:      {"compile_for", 7},
	fnImageFree:       {"image_free", 1},
	fnCompilerVersion: {"compiler_version", 4},
	fnModuleLoad:      {"module_load", 5},
	fnModuleUnload:    {"module_unload", 1},
	fnModuleFunction:  {"module_function", 4},
	fnFunctionInfo:    {"function_info", 7},
	fnLaunch:          {"launch", 8},
	fnExclusiveScan:   {"exclusive_scan_u32_u64", 5},
	fnSortPairs:       {"sort_pairs", 11},
	fnGather:          {"gather", 7},
	fnStringOffsets:   {"string_offsets", 5},
	fnStringCopy:      {"string_copy", 6},
	fnGroupRanges:     {"group_ranges", 8},
	fnGroupNarrow:     {"group_narrow", 8},
	fnPackBits:        {"pack_bits", 5},
}

const symbolPrefix = "radish_gpu_"

// callFrame is what a call points to.
type callFrame struct {
	err  cError
	args [11]uintptr
}

var framePool = sync.Pool{New: func() any { return new(callFrame) }}

// call calls a function that can fail; the error, its last argument, is added.
//
//go:uintptrescapes
func (l *Library) call(fn symbol, args ...uintptr) error {
	f := framePool.Get().(*callFrame)
	defer framePool.Put(f)
	n := copy(f.args[:], args)
	f.args[n] = uintptr(unsafe.Pointer(&f.err))
	if int32(callC(l.symbols[fn], f.args[:n+1]...)) == 0 {
		return nil
	}
	return &Error{Kind: Kind(f.err.kind), Code: f.err.code, Call: functions[fn].name, Message: cString(f.err.message[:])}
}

// callVoid calls a function that cannot fail and gives what it returns.
//
//go:uintptrescapes
func (l *Library) callVoid(fn symbol, args ...uintptr) uintptr {
	return callC(l.symbols[fn], args...)
}

// cString is the text before the first zero byte.
func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// cText is the text as C wants it.
func cText(s string) *byte {
	b := make([]byte, len(s)+1)
	copy(b, s)
	return &b[0]
}
