package fileaccess_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/radish-sql/radish/storage/fileaccess"
)

// ** stands for any number of folders, and for none, with and without a policy.
func TestGlobFolders(t *testing.T) {
	dir := t.TempDir()
	var all []string
	for _, name := range []string{"a.csv", "b.txt", "x/a.csv", "x/y/a.csv", "x/y/z/c.csv", "w/y/a.csv"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, path)
	}
	restricted, err := fileaccess.Parse("read:" + dir)
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string][]int{"**/*.csv": {0, 5, 2, 3, 4}, "**/a.csv": {0, 5, 2, 3}, "x/**/*.csv": {2, 3, 4}, "**/y/a.csv": {5, 3}, "**/y/**/*.csv": {5, 3, 4}, "**/q.csv": {}} {
		for _, policy := range []*fileaccess.Policy{fileaccess.Full(), restricted} {
			got, err := policy.Glob(context.Background(), filepath.Join(dir, pattern))
			var names []string
			for _, i := range want {
				names = append(names, all[i])
			}
			if err != nil || !slices.Equal(got, names) {
				t.Errorf("%s with %s: %v, %v, want %v", pattern, policy, got, err, names)
			}
		}
	}
}
