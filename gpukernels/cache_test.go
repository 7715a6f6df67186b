package gpukernels

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"
)

// TestDiskCache puts, gets, damages and evicts.
func TestDiskCache(t *testing.T) {
	c := newDiskCache(t.TempDir(), 10_000)
	if c.get("a") != nil {
		t.Error("an empty cache has something")
	}
	image := bytes.Repeat([]byte{7}, 1000)
	c.put("a", image)
	if !bytes.Equal(c.get("a"), image) {
		t.Error("what was put is not there")
	}
	damaged, err := os.ReadFile(c.file("a"))
	if err != nil {
		t.Fatal(err)
	}
	damaged[500] ^= 1
	if err := os.WriteFile(c.file("a"), damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if c.get("a") != nil {
		t.Error("a damaged image is handed out")
	}
	for i := range 20 {
		key := fmt.Sprint("k", i)
		c.put(key, image)
		old := time.Now().Add(time.Duration(i-100) * time.Hour)
		if err := os.Chtimes(c.file(key), old, old); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if c.size > c.limit {
		t.Errorf("%d bytes are kept, and the limit is %d", c.size, c.limit)
	}
	if c.get("k0") != nil || c.get("k19") == nil {
		t.Error("the newest image is gone, or the oldest is kept")
	}
	none := newDiskCache("", 10_000)
	none.put("a", image)
	if none.get("a") != nil {
		t.Error("no cache keeps something")
	}
}

// TestImageKey wants another key for whatever changes the image.
func TestImageKey(t *testing.T) {
	base := imageKey("c", "s", []string{"-DA=1"})
	for i, other := range []string{imageKey("d", "s", []string{"-DA=1"}), imageKey("c", "t", []string{"-DA=1"}), imageKey("c", "s", []string{"-DA=2"}), imageKey("c", "s", nil)} {
		if other == base {
			t.Errorf("key %d does not differ", i)
		}
	}
	if imageKey("c", "s", []string{"-DA=1"}) != base {
		t.Error("the key is not stable")
	}
}
