package gpukernels

import (
	"errors"
	"fmt"
)

// Kind says whose matter an error is.
type Kind int32

// The kinds, as in radish_gpu.h.
const (
	KindUser        Kind = 1 // a wrong argument
	KindOutOfMemory Kind = 2 // of the device; it goes on working
	KindDeviceLost  Kind = 3 // a kernel failed and took its context with it: nothing runs on the device any more
	KindInternal    Kind = 4 // a defect, or a source that does not compile
	KindUnavailable Kind = 5 // no library, driver, device or compiler; the message says how to get it
)

func (k Kind) String() string {
	switch k {
	case KindUser:
		return "wrong argument"
	case KindOutOfMemory:
		return "out of device memory"
	case KindDeviceLost:
		return "device lost"
	case KindInternal:
		return "internal error"
	case KindUnavailable:
		return "unavailable"
	}
	return fmt.Sprintf("kind %d", int32(k))
}

// An Error is what a call of the library failed with.
type Error struct {
	Kind    Kind
	Code    int32  // CUDA's or NVRTC's own number; 0: none
	Call    string // the function of the ABI, without its prefix; may be empty
	Message string
}

func (e *Error) Error() string {
	if e.Kind == KindUnavailable {
		return e.Message // for who has not got it yet
	}
	text := e.Kind.String()
	if e.Call != "" {
		text = e.Call + ": " + text
	}
	return text + ": " + e.Message
}

// The kinds as targets of errors.Is.
var (
	ErrUser        = errors.New("wrong argument to the device library")
	ErrOutOfMemory = errors.New("out of device memory")
	ErrDeviceLost  = errors.New("the device is lost")
	ErrInternal    = errors.New("internal error of the device library")
	ErrUnavailable = errors.New("no usable GPU")
)

// Is makes errors.Is(err, ErrOutOfMemory) and the like work.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrUser:
		return e.Kind == KindUser
	case ErrOutOfMemory:
		return e.Kind == KindOutOfMemory
	case ErrDeviceLost:
		return e.Kind == KindDeviceLost
	case ErrInternal:
		return e.Kind == KindInternal
	case ErrUnavailable:
		return e.Kind == KindUnavailable
	}
	return false
}
