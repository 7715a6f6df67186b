package variables

import (
	"slices"
	"strings"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
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

// setDevice checks a value that is set, and that there is a GPU if it needs one.
func setDevice(v *Settings, value string) (string, error) {
	d, err := parseDevice(value)
	if err == nil && d.NeedsGPU() {
		_, err = v.NeedGPU(d)
	}
	return string(d), err
}

// CheckDevice checks the device that the sessions of a database begin with.
func CheckDevice(db *database.Database, device gpu.Setting) error {
	v := Settings{Engine: db}
	_, err := setDevice(&v, string(device))
	return err
}

// gpuDevices names the variable that lists the GPUs of queries.
const gpuDevices = "radish_gpu_devices"

// setGPUDevices checks a list of GPUs, and opens those that it names.
func setGPUDevices(v *Settings, value string) (string, error) {
	ordinals, err := gpu.ParseDevices(value)
	if err != nil {
		return "", sqlerr.WrongValueForVar(gpuDevices, value).WithHint("it is 'all', or numbers of devices such as '0,1': %s", err)
	}
	if ordinals == nil {
		value = gpu.AllDevices
	} else if _, err := gpu.OpenFleet(v.Engine.Opts.GPULibrary, ordinals).Wait(); err != nil {
		return "", sqlerr.NotSupportedf(gpuDevices+" = '"+value+"'", "the GPUs cannot be used: %s", v.WithoutPaths(err)).
			WithHint("information_schema.radish_devices has the numbers of those that can").WithCause(err)
	}
	v.gpus = ordinals
	return value, nil
}

// Fleet are the GPUs of the session's queries.
func (v *Settings) Fleet() *gpu.Fleet {
	return v.Engine.Limited(gpu.OpenFleet(v.Engine.Opts.GPULibrary, v.gpus))
}

// NeedGPU is the first of the session's GPUs, or an error for people: what is missing and how to get it.
func (v *Settings) NeedGPU(value gpu.Setting) (*gpu.Device, error) {
	d, err := v.Fleet().First()
	if err != nil {
		return nil, sqlerr.NotSupportedf("radish_device = '"+string(value)+"'", "there is no usable GPU: %s", v.WithoutPaths(err)).
			WithHint("SET radish_device = 'auto' to go on with the CPU").WithCause(err)
	}
	return d, nil
}

// WithoutPaths is the text of an error about a GPU, which may name files and say whether there are such, for those who may read all of them.
func (v *Settings) WithoutPaths(err error) string {
	if v.Access.ReadsAll() {
		return err.Error()
	}
	return "why names files, which radish_file_access = '" + v.Access.String() + "' hides"
}
