package auto

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// TestCalibrate measures, and compares both sides over small tables: on an emulated device auto chooses the CPU.
func TestCalibrate(t *testing.T) {
	gputest.Emulated(t)
	var out bytes.Buffer
	if err := RunCalibrate(t.Context(), []string{"--device", "emulated", "--rows", "3.2e4", "--runs", "1"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{"\nstart ", "\nupload ", "31623  join", "group by", "of 6; at worst"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if n := strings.Count(out.String(), "  cpu  "); n != 6 {
		t.Errorf("the CPU was chosen %d times of 6\n%s", n, out.String())
	}
	if err := RunCalibrate(t.Context(), []string{"--rows", "many"}, &out); !errors.Is(err, cli.ErrUsage) {
		t.Errorf("error %v", err)
	}
}
