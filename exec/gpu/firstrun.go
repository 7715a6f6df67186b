package gpu

import "github.com/radish-sql/radish/gpukernels"

// FirstRun is what first runs of queries have paid besides running, since the device was opened.
type FirstRun struct {
	Compiled gpukernels.Busy // kernels
	Uploads  gpukernels.Busy // table columns and dictionaries
	Uploaded int64           // their bytes
}

// Sub is what has been added since an earlier sum.
func (f FirstRun) Sub(earlier FirstRun) FirstRun {
	return FirstRun{f.Compiled.Sub(earlier.Compiled), f.Uploads.Sub(earlier.Uploads), f.Uploaded - earlier.Uploaded}
}

// FirstRun adds up all compilations and uploads that have ended.
func (d *Device) FirstRun() FirstRun {
	d.res.mu.Lock()
	sent := d.res.sent
	d.res.mu.Unlock()
	return FirstRun{d.device.Compiling(), d.res.uploading.Total(), sent}
}

// ForgetKernels is for benchmarks: kernels that no query uses are compiled again when they are next asked for.
func (d *Device) ForgetKernels() { d.device.ForgetKernels() }
