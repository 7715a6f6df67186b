package engine

import (
	"slices"
	"strings"

	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Devices lists the values of radish_device.
func Devices() []string {
	return []string{string(gpu.Auto), string(gpu.Never), string(gpu.Always), string(gpu.Strict)}
}

// parseDevice reads a value of radish_device.
func parseDevice(text string) (gpu.Setting, error) {
	if d := strings.ToLower(text); slices.Contains(Devices(), d) {
		return gpu.Setting(d), nil
	}
	return "", sqlerr.WrongValueForVar("radish_device", text).WithHint("it can be %s", DevicesText())
}

// DevicesText lists the values of radish_device, for messages.
func DevicesText() string {
	all := Devices()
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}

// plannedFor is the device that queries are planned for where no race decides.
func plannedFor(s gpu.Setting) physical.Device {
	if s == gpu.Never {
		return physical.CPU
	}
	return physical.GPU
}

// placedAs is how pipelines that may run on a GPU are placed: tests can change what 'auto' does.
func (a *autoState) placedAs(s gpu.Setting) gpu.Setting {
	if s == gpu.Auto && a.instead != "" {
		return a.instead
	}
	return s
}

// setDevice checks a value that is set, and that there is a GPU if it needs one.
func setDevice(v *variables, value string) (string, error) {
	d, err := parseDevice(value)
	if err == nil && d.NeedsGPU() {
		_, err = v.needGPU(d)
	}
	return string(d), err
}

// device is the session's radish_device.
func (s *Session) device() gpu.Setting {
	return gpu.Setting(s.vars.get(variableByName["radish_device"]))
}
