package gpukernels

import "unsafe"

// HostMemory is memory of the host from which the copy engine reads without a detour. Pinning it takes long, and the system cannot page it out.
type HostMemory struct {
	Bytes []byte // zero at first

	device *Device
}

// NewHostMemory pins memory. Close it before the device.
func (d *Device) NewHostMemory(bytes int64) (*HostMemory, error) {
	var at *byte
	if err := d.call(fnHostAlloc, d.handle, uintptr(bytes), uintptr(unsafe.Pointer(&at))); err != nil {
		return nil, err
	}
	return &HostMemory{Bytes: unsafe.Slice(at, bytes), device: d}, nil
}

// Close gives the memory back. No stream may read it any more.
func (h *HostMemory) Close() {
	h.device.lib.callVoid(fnHostFree, h.device.handle, uintptr(unsafe.Pointer(unsafe.SliceData(h.Bytes))))
	h.Bytes = nil
}

// UploadPinned copies all of a pinned memory to the device. It does not wait: the memory must stay as it is until the stream has been waited for.
func (s *Stream) UploadPinned(dst Ptr, from *HostMemory) error {
	return s.device.call(fnUploadPinned, s.handle, uintptr(dst), uintptr(unsafe.Pointer(unsafe.SliceData(from.Bytes))), uintptr(len(from.Bytes)))
}
