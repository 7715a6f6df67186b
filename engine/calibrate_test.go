package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/planner/physical"
)

// TestCalibrate measures on an emulated device, and on a real one if there is one. Costs are positive, and EXPLAIN estimates with them.
func TestCalibrate(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		d, err := e.gpu()
		if err != nil {
			t.Fatal(err)
		}
		if !d.Emulated() { // what is measured beside other tests is not to be kept
			t.Setenv("RADISH_KERNEL_CACHE", "off")
		}
		before := *d.Costs()
		s := e.NewSession()
		rows := values(t, s, "CALL radish_calibrate()")
		var names []string
		for _, r := range rows {
			names = append(names, r[0].Text())
			if name := r[0].Text(); name != "compute" && name != "probe" && name != "aggregate" && (r[2].F <= 0 || !r[1].Null && r[1].F <= 0) {
				t.Errorf("%s costs %v on the CPU and %v on the GPU", name, r[1].F, r[2].F)
			}
		}
		if got := strings.Join(names, " "); got != "start scan compute probe aggregate upload compile" {
			t.Errorf("costs of %s", got)
		}
		after := *d.Costs()
		if after == before {
			t.Error("the costs are as before")
		}
		if err := d.Learn(before); err != nil {
			t.Error(err)
		}
		t.Logf("%+v", after)
	})
	s := session(t, Options{Threads: 2, Device: deviceCPU, GPULibrary: "/nosuch/lib.so"})
	for sql, says := range map[string]string{
		"CALL radish_calibrate()": "no usable GPU", "CALL radish_calibrate(1)": "radish_calibrate", "CALL nosuch()": "nosuch does not exist",
	} {
		if _, err := run(t.Context(), s, sql); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// TestPlacementCrossover injects costs of which the number of rows follows from which on a group-by is faster on the GPU. Estimates change sides there,
// and only there; columns that have to be uploaded move it.
func TestPlacementCrossover(t *testing.T) {
	costs := gpu.Costs{
		CPU:    gpu.Rates{Start: 10e-6, Scan: 4e-9, Step: 2e-9, Probe: 12e-9, Aggregate: 8e-9},
		GPU:    gpu.Rates{Start: 210e-6, Scan: 10e-12, Step: 5e-12, Probe: 60e-12, Aggregate: 20e-12},
		Upload: 1 / 20e9,
	}
	const threads, width = 4, 6
	for _, missing := range []bool{false, true} {
		perRow := (4e-9+8e-9)/threads - 30e-12
		if missing {
			perRow -= 0.25 * width / 20e9
		}
		last := ""
		for _, share := range []float64{0.1, 0.3, 0.6, 0.9, 1.2, 2, 10} {
			// Three pipelines: the groups, one row of them, the result.
			rows := int(share * 3 * 200e-6 / perRow)
			c := calibration{session: session(t, Options{Threads: 2, Device: deviceCPU}), rows: rows}
			if err := c.tables(); err != nil {
				t.Fatal(err)
			}
			cpu, there := costs.Estimate(planOf(t, c.session, calibrateAggregate), threads, func(*physical.TableScan) int64 {
				if missing {
					return int64(width * rows)
				}
				return 0
			})
			faster := "cpu"
			if there < cpu {
				faster = "gpu"
			}
			if want := map[bool]string{true: "gpu", false: "cpu"}[share > 1]; faster != want {
				t.Errorf("%d rows, missing %v: %v on the CPU, %v on the GPU; want the %s", rows, missing, cpu, there, want)
			}
			if last == "gpu" && faster == "cpu" {
				t.Errorf("%d rows: back to the CPU", rows)
			}
			last = faster
		}
	}
}

// TestEstimateCountsRows holds estimates of joins and filters against sums made by hand.
func TestEstimateCountsRows(t *testing.T) {
	c := calibration{session: session(t, Options{Threads: 2, Device: deviceCPU}), rows: 100_000}
	if err := c.tables(); err != nil {
		t.Fatal(err)
	}
	unit := gpu.Costs{CPU: gpu.Rates{Scan: 1e-6, Probe: 1e-3}, GPU: gpu.Rates{Scan: 1e-6, Probe: 1e-3}}
	none := func(*physical.TableScan) int64 { return 0 }
	// 65,536 rows of d are read and stored, 100,000 of t read and looked up; the result is a row.
	cpu, there := unit.Estimate(planOf(t, c.session, calibrateProbe), 2, none)
	want := time.Duration((65536+100_000)*1e3 + (65536+100_000)*1e6)
	near := func(got, want time.Duration) bool { return got > want*99/100 && got < want*101/100 }
	if !near(there, want) || !near(cpu, want/2) {
		t.Errorf("estimates of a join are %v and %v, want %v and %v", cpu, there, want/2, want)
	}
	// However many threads there are: d has two morsels, t four.
	cpu, _ = unit.Estimate(planOf(t, c.session, calibrateProbe), 64, none)
	if want := time.Duration(65536*(1e3+1e6)/2 + 100_000*(1e3+1e6)/4); !near(cpu, want) {
		t.Errorf("the estimate of a join by 64 threads is %v, want %v", cpu, want)
	}
	// The CPU searches a sorted build; on the GPU each of t's rows is compared with each of d's.
	steps := gpu.Costs{CPU: gpu.Rates{Step: 1e-9}, GPU: gpu.Rates{Step: 1e-9}}
	cpu, there = steps.Estimate(planOf(t, c.session, "SELECT t.g FROM t WHERE NOT EXISTS (SELECT 1 FROM d WHERE d.x > t.v AND d.id < t.k)"), 1, none)
	if pairs := time.Duration(65536 * 100_000); !near(there-cpu, pairs) {
		t.Errorf("estimates of a range join are %v and %v, want a difference of %v", cpu, there, pairs)
	}
}

func planOf(t *testing.T, s *Session, sql string) *physical.Plan {
	t.Helper()
	statements, err := s.Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	st := &statement{Statement: statements[0], session: s, ctx: t.Context()}
	defer st.end()
	q, err := st.binder().Query(st.Node)
	if err != nil {
		t.Fatal(err)
	}
	plan, _, err := s.plan(st, q)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}
