package gpu

import (
	"time"

	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/gpukernels"
	tables "github.com/radish-sql/radish/storage/table"
)

// Memory is what the device's memory is used for; Resident is the part that table columns take, and Limit what all may hold together (0: as much as there is).
type Memory struct {
	gpukernels.Memory
	Resident, Limit int64
}

// Memory asks the device.
func (d *Device) Memory() (Memory, error) {
	m, err := d.runner.Device.Memory()
	return Memory{m, d.runner.Residency.Used(), d.runner.Residency.Limit()}, err
}

// LimitMemory bounds what queries and table columns together hold of the device's memory; 0: only the device does. Where several set a limit, the least counts. Columns
// that no query uses are given up for it.
func (d *Device) LimitMemory(owner any, bytes int64) { d.runner.Residency.SetLimit(owner, bytes) }

// Short says why the device has no memory left for more columns than it holds, and how long nobody tries again; "": it has, as far as is known.
func (d *Device) Short() (reason string, left time.Duration) { return d.runner.Residency.Short() }

// Refuse has the advisor know why the device could not run a statement that nobody was waiting for; a lack of memory that others hold says nothing of the statement.
func (d *Device) Refuse(fingerprint uint64, reason string) {
	if full, _ := d.Short(); full == "" {
		d.advisor.Refuse(fingerprint, reason)
	}
}

// Invest uploads the columns of a table while nobody waits for them: all but strings without a dictionary, which are large and of which queries read few.
func (d *Device) Invest(v *tables.Version) { d.runner.Residency.Invest(v) }

// Investing is how many tables wait to be uploaded, or are being uploaded, in the background.
func (d *Device) Investing() int { return d.runner.Residency.Investing() }

// ResidentColumns lists the columns of tables that are still there, by name.
func (d *Device) ResidentColumns() []residency.Listed { return d.runner.Residency.List() }
