package engine

import (
	"slices"
	"strings"

	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Device is where queries run: the values of radish_device.
type Device string

const (
	deviceAuto   Device = "auto"       // where the query is known to take less, or on both in a race
	deviceCPU    Device = "cpu"        // on the CPU alone
	deviceGPU    Device = "gpu"        // on the GPU; what cannot run there runs on the CPU
	deviceStrict Device = "gpu_strict" // on the GPU; what cannot run there is an error
)

// Devices lists the values of radish_device.
func Devices() []string {
	return []string{string(deviceAuto), string(deviceCPU), string(deviceGPU), string(deviceStrict)}
}

// parseDevice reads a value of radish_device.
func parseDevice(text string) (Device, error) {
	if d := strings.ToLower(text); slices.Contains(Devices(), d) {
		return Device(d), nil
	}
	return "", sqlerr.WrongValueForVar("radish_device", text).WithHint("it can be %s", DevicesText())
}

// DevicesText lists the values of radish_device, for messages.
func DevicesText() string {
	all := Devices()
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}

// needsGPU says whether queries are errors where there is no GPU.
func (d Device) needsGPU() bool { return d == deviceGPU || d == deviceStrict }

// plansFor is the device that queries are planned for where no race decides.
func (d Device) plansFor() physical.Device {
	if d == deviceCPU {
		return physical.CPU
	}
	return physical.GPU
}

// mode says how pipelines that may run on a GPU are placed. auto is the mode that stands for deviceAuto, which tests can change.
func (d Device) mode(auto gpu.Mode) gpu.Mode {
	switch d {
	case deviceAuto:
		return auto
	case deviceStrict:
		return gpu.Strict
	}
	return gpu.Always
}

// setDevice checks a value that is set, and that there is a GPU if it needs one.
func setDevice(v *variables, value string) (string, error) {
	d, err := parseDevice(value)
	if err == nil && d.needsGPU() {
		_, err = v.needGPU(d)
	}
	return string(d), err
}

// device is the session's radish_device.
func (s *Session) device() Device { return Device(s.vars.get(variableByName["radish_device"])) }
