package gpukernels

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// emulatedSources is all that libradish_emulated is built from.
//
//go:embed include/*.h src/common/*.h src/emulated/*.h src/emulated/*.cpp
var emulatedSources embed.FS

// BuildEmulated builds libradish_emulated.so with the C++ compiler of RADISH_CXX, or g++, into a folder, and returns its path. The file's name
// holds the hash of the sources; one that is there already is taken.
func BuildEmulated(ctx context.Context, dir string) (string, error) {
	h := sha256.New()
	var sources []string
	err := fs.WalkDir(emulatedSources, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := emulatedSources.ReadFile(name)
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
		sources = append(sources, name)
		return err
	})
	if err != nil {
		return "", err
	}
	library := filepath.Join(dir, "libradish_emulated-"+hex.EncodeToString(h.Sum(nil))[:16]+".so")
	if _, err := os.Stat(library); err == nil {
		return library, nil
	}
	cxx := os.Getenv("RADISH_CXX")
	if cxx == "" {
		cxx = "g++"
	}
	if _, err := exec.LookPath(cxx); err != nil {
		return "", &Error{Kind: KindUnavailable, Message: "the emulated device needs a C++ compiler: install g++ or name one in RADISH_CXX (" + err.Error() + ")"}
	}
	tree, err := os.MkdirTemp("", "radish-emulated-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tree)
	if err := os.CopyFS(tree, emulatedSources); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	built := filepath.Join(tree, "built.so")
	args := []string{"-std=c++17", "-O2", "-g1", "-Wall", "-Wextra", "-shared", "-fPIC", "-fvisibility=hidden", "-I", "include", "-I", "src/common"}
	for _, s := range sources {
		if filepath.Ext(s) == ".cpp" {
			args = append(args, s)
		}
	}
	cmd := exec.CommandContext(ctx, cxx, append(args, "-o", built, "-ldl")...)
	cmd.Dir = tree
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return "", &Error{Kind: KindInternal, Message: fmt.Sprintf("building the emulated device: %v\n%s", err, out.Bytes())}
	}
	image, err := os.ReadFile(built)
	if err != nil {
		return "", err
	}
	return library, WriteWhole(library, image)
}
