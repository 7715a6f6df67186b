package memory

import (
	"fmt"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// A device's memory is counted like the host's: one budget for all that is held there, with a child for what is kept between queries and one for each
// query. Go's collector has nothing to do with it.

// NewDevice returns the budget of a device's memory. setting names what raises its limit, for the errors.
func NewDevice(setting string) *Budget { return &Budget{setting: setting} }

// DeviceChild is Child for a part of a device's memory, whose limit another setting raises.
func (b *Budget) DeviceChild(limit int64, setting string) *Budget {
	c := b.Child(limit)
	c.setting = setting
	return c
}

// Shortage is the error of a reservation that a budget of a device's memory refuses. Who knows the operator makes an error for users of it.
type Shortage struct {
	Of      *Budget // the one that refuses
	What    string  // the memory was for
	Setting string  // raises the limit
	Asked   int64
	Used    int64
	Limit   int64
}

func (x *Shortage) Error() string {
	return fmt.Sprintf("%s: %s more than the %s in use, of which %s allows %s", x.What, sqlerr.FormatBytes(x.Asked), sqlerr.FormatBytes(x.Used), x.Setting, sqlerr.FormatBytes(x.Limit))
}

// Explain is the error for users, with the operator that needed the memory.
func (x *Shortage) Explain(operator string) *sqlerr.Error {
	return sqlerr.DeviceMemoryExceeded(operator, x.What, x.Used+x.Asked, x.Limit, x.Setting).WithCause(x)
}
