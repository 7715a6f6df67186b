package gpukernels

import "unsafe"

// Several devices of one host. Each has streams, memory and kernels of its own. Where one can reach another's memory its kernels read and write it by the
// addresses that it has there; copies between two devices need no such access. What needs a device that is lost is an ErrDeviceLost, whichever device's call it is.

// CanReach says whether kernels of the device can be allowed to read and write another one's memory. One that was opened twice reaches itself.
func (d *Device) CanReach(peer *Device) bool {
	var can int32
	err := d.call(fnPeerCan, d.handle, peer.handle, uintptr(unsafe.Pointer(&can)))
	return err == nil && can != 0
}

// Reach allows it, for all that is and will be allocated there, until the peer is closed. Where CanReach says no it is an ErrUnavailable.
func (d *Device) Reach(peer *Device) error {
	if err := peer.Lost(); err != nil {
		return err
	}
	return d.call(fnPeerEnable, d.handle, peer.handle)
}

// WaitFor has work that is put into the stream from now on wait for an event, which was recorded on a stream of any device. The caller does not wait.
func (s *Stream) WaitFor(e *Event) error {
	if err := e.device.Lost(); err != nil {
		return err
	}
	return s.device.call(fnStreamWait, s.handle, e.handle)
}

// CopyFrom copies from a device's memory to that of the stream's device. They need not reach each other. What has written the source must be before it: in
// this stream, or by WaitFor.
func (s *Stream) CopyFrom(dst Ptr, from *Device, src Ptr, bytes int64) error {
	if err := from.Lost(); err != nil {
		return err
	}
	return s.device.call(fnPeerCopy, s.handle, uintptr(dst), from.handle, uintptr(src), uintptr(bytes))
}
