package memory_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// TestDevice wants the limit of a device to hold for all that lies within it, a query's for itself alone, and errors that say which setting helps.
func TestDevice(t *testing.T) {
	device := memory.NewDevice("gpu_memory_limit")
	columns := device.DeviceChild(0, "gpu_memory_limit")
	query := device.DeviceChild(100, "radish_gpu_memory_limit")
	if err := columns.Reserve("a column", 1000); err != nil {
		t.Fatal(err)
	}
	refused := func(of *memory.Budget, bytes int64, setting string) {
		t.Helper()
		var x *memory.Shortage
		if err := of.Reserve("table of groups", bytes); !errors.As(err, &x) || x.Setting != setting || x.Asked != bytes {
			t.Fatalf("%d bytes: %v", bytes, err)
		}
		user := x.Explain("GROUP BY")
		if user.Kind != sqlerr.Resource || user.Code != sqlerr.CodeCapacityExceeded || !strings.Contains(user.Hint, setting) ||
			!strings.HasPrefix(user.Message, "GROUP BY on the GPU ran out of memory (table of groups, ") {
			t.Errorf("the error is %v", user)
		}
	}
	refused(query, 101, "radish_gpu_memory_limit")
	if err := query.Reserve("table of groups", 100); err != nil || device.Used() != 1100 {
		t.Fatalf("%d bytes are used, %v", device.Used(), err)
	}
	query.Release(60)
	device.SetLimit(1050) // less than is in use is allowed, but no more
	if err := query.Reserve("table of groups", 10); err != nil {
		t.Fatal(err)
	}
	refused(query, 1, "gpu_memory_limit")
	query.Release(50)
	columns.Release(1000)
	if device.Used() != 0 || query.Used() != 0 || query.Peak() != 100 {
		t.Errorf("%d and %d bytes are used, %d were", device.Used(), query.Used(), query.Peak())
	}
}
