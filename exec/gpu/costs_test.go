package gpu

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeptCosts writes costs and reads them; files that hold no costs are not taken for some.
func TestKeptCosts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "folder", "costs.json")
	if c := loadCosts(file); c != nil {
		t.Errorf("no file gives %+v", c)
	}
	want := defaultCosts
	want.GPU.Start = 123e-6
	if err := want.save(file); err != nil {
		t.Fatal(err)
	}
	if got := loadCosts(file); got == nil || *got != want {
		t.Errorf("wrote %+v, read %+v", want, got)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "{}", string(text[:len(text)/2]), strings.Replace(string(text), "0.000123", "-1", 1), strings.Replace(string(text), "0.000123", "0", 1)} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if c := loadCosts(file); c != nil {
			t.Errorf("%q gives %+v", bad, c)
		}
	}
}
