package database

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/engine/database"
)

// PeakRSS returns the most memory that the process has had resident since it began or since ResetPeakRSS, in bytes;
// 0 where the system does not tell.
func PeakRSS() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	return parseHighWater(string(status))
}

// parseHighWater reads VmHWM, in kB, from the text of /proc/PID/status.
func parseHighWater(status string) int64 {
	for line := range strings.Lines(status) {
		if text, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "kB")), 10, 64)
			if err != nil {
				return 0
			}
			return kb << 10
		}
	}
	return 0
}

// ResetPeakRSS makes the resident memory of now the peak. Where that is refused the peak stays what it was, which
// only makes later figures larger.
func ResetPeakRSS() {
	const resetHighWater = "5" // proc_pid_clear_refs(5)
	_ = os.WriteFile("/proc/self/clear_refs", []byte(resetHighWater), 0)
}

// Processor names the processor.
func Processor() string {
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if text, ok := strings.CutPrefix(line, "model name"); ok {
				return strings.TrimSpace(strings.TrimLeft(text, "\t :"))
			}
		}
	}
	return runtime.GOARCH
}

// Commit returns the commit that the program was built from, with a + if the tree had changes; empty if the build did
// not record it.
func Commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var revision, modified string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			revision = s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + modified
}

// Version returns the version and, where it is known, the commit.
func Version() string {
	if built := Commit(); built != "" {
		return database.Version + " (" + built + ")"
	}
	return database.Version
}

// PeakGBs is the measured speed of sequential reads of an H200's memory, in GB/s: what a scan can be at most.
const PeakGBs = 4594
