package database

import "testing"

func TestHighWater(t *testing.T) {
	if n := parseHighWater("VmPeak:\t  10 kB\nVmHWM:\t   2048 kB\nVmRSS:\t 1 kB\n"); n != 2<<20 {
		t.Errorf("VmHWM: %d", n)
	}
	if n := parseHighWater("VmRSS:\t 1 kB\n"); n != 0 {
		t.Errorf("no VmHWM: %d", n)
	}
}
