package shapes

import (
	"context"
	"strings"
	"testing"
)

func TestShapesCommand(t *testing.T) {
	var out strings.Builder
	if err := Run(context.Background(), []string{"--device", "cpu", "--rows", "20000", "--runs", "1"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if got, want := strings.Count(out.String(), "not compared"), len(shapeCases()); got != want {
		t.Errorf("%d statements, want %d\n%s", got, want, out.String())
	}
}
