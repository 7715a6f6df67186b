package sqllogic

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/planner/physical"
)

// With -device auto-emulated, queries run under radish_device = 'auto', which takes the emulated device for a GPU. Each is asked three times: when nothing is known of it;
// when it was rehearsed, which both sides race; and when both times are known. By its fingerprint one side is made to look a thousand times slower, so that half of
// the statements end up on either.

// emulateAuto sets that up.
func emulateAuto() error {
	database.EmulateAuto()
	d, err := gpu.Shared("")
	if err != nil {
		return err
	}
	d.Advisor().Bias(func(fingerprint uint64, on physical.Device) float64 {
		if on == physical.Device(fingerprint&1) {
			return 1000
		}
		return 1
	})
	return nil
}

// repeated counts the queries that were asked three times.
var repeated atomic.Int64

// onBoth asks each query until it has run on both sides, and wants the same rows of all runs. A query that assigns variables runs once:
// the next run would begin with other values.
type onBoth struct{ Engine }

func (b onBoth) Query(ctx context.Context, sql, types string) ([]string, error) {
	values, err := b.Engine.Query(ctx, sql, types)
	if err != nil || assigns(sql) {
		return values, err
	}
	first := slices.Sorted(slices.Values(values))
	for range 2 {
		for { // until what is prepared and rehearsed in the background is there
			work, err := b.Engine.Query(ctx, "SELECT background FROM information_schema.radish_devices WHERE device = 'gpu0'", "T")
			if err != nil {
				return nil, err
			}
			if len(work) != 1 || work[0] == "NULL" {
				break
			}
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		if values, err = b.Engine.Query(ctx, sql, types); err != nil {
			return nil, fmt.Errorf("the query fails when it runs again under 'auto': %w", err)
		}
		if again := slices.Sorted(slices.Values(values)); !slices.Equal(again, first) {
			return nil, fmt.Errorf("the query gives other rows when it runs again under 'auto':\n%s\nbefore:\n%s", strings.Join(again, " "), strings.Join(first, " "))
		}
	}
	repeated.Add(1)
	return values, nil
}

// ranOnBoth fails the test unless statements came to be answered by either device.
func ranOnBoth(t *testing.T) {
	t.Helper()
	d, err := gpu.Shared("")
	if err != nil {
		t.Fatal(err)
	}
	cpu, gpus, both, refused := 0, 0, 0, 0
	rehearsed, faster := 0, 0 // on the GPU
	for _, l := range d.Advisor().List() {
		if l.GPURuns > 0 {
			rehearsed++
			if physical.Device(l.Fingerprint&1) == physical.CPU { // which is made slower
				faster++
			}
		}
		switch {
		case l.CPURuns > 0 && l.GPURuns > 1: // one of these is the rehearsal
			both++
		case l.GPURuns > 1:
			gpus++
		case l.Refused != "":
			refused++
		default:
			cpu++
		}
	}
	t.Logf("%d queries ran three times; of the statements, %d were answered by the CPU, %d by the GPU, %d by both, and %d have no kernels; %d were rehearsed, %d of which the GPU seems faster at",
		repeated.Load(), cpu, gpus, both, refused, rehearsed, faster)
	if repeated.Load() > 20 && (cpu == 0 || rehearsed == 0) || faster > 3 && gpus+both == 0 {
		t.Error("not both devices have answered queries")
	}
}
