package sqllogic

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "github.com/radish-sql/radish"
	"github.com/radish-sql/radish/gpukernels"
)

var show = flag.Int("show", 20, "wrong answers to print")
var device = flag.String("device", "", "where pipelines run: cpu, gpu, auto or emulated (the code for GPUs, on the processor); empty: auto")
var match = flag.String("files", "", "run the sample's files whose name matches this pattern only")

// known are the refusals that are allowed, each with why. A record refused for any other reason fails the test.
// docs/sql.md lists them too.
var known = []struct {
	message *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`(?i)trigger`), "triggers are not part of Radish"},
	{regexp.MustCompile(`WITH RECURSIVE is not supported`), "recursive expressions are not there yet"},
	{regexp.MustCompile(`WITH ROLLUP is not supported`), "nor are subtotals"},
}

func isKnown(err error) bool {
	for _, k := range known {
		if k.message.MatchString(err.Error()) {
			return true
		}
	}
	return false
}

func openRadish(ctx context.Context) (Engine, error) {
	dsn := ""
	if *device != "" {
		dsn = "?device=" + strings.Replace(*device, "emulated", "gpu", 1)
	}
	db, err := sql.Open("radish", dsn)
	if err != nil {
		return nil, err
	}
	return NewEngine(ctx, db)
}

func TestMain(m *testing.M) {
	flag.Parse()
	if *device == "emulated" {
		library, err := gpukernels.BuildEmulated(context.Background(), filepath.Join(os.TempDir(), "radish-emulated"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Setenv(gpukernels.LibraryVariable, library)
	}
	os.Exit(m.Run())
}

// runRadish fails the test on any wrong answer and any refusal that is not known.
func runRadish(t *testing.T, scripts []Script) {
	t.Helper()
	reports := (&Runner{Open: openRadish}).Run(t.Context(), scripts)
	if !Print(t.Output(), reports, *show) {
		t.Fail()
	}
	unknown := 0
	for _, r := range reports {
		for _, f := range r.Refused {
			if !isKnown(f.Err) {
				unknown++
			}
		}
	}
	if unknown > 0 {
		t.Errorf("%d records were refused for reasons that are not in the list of known ones", unknown)
	}
}

// TestScripts runs the scripts of this repository. Their expectations are MariaDB's answers, written by
// test/oracle/cmd/slt -update.
func TestScripts(t *testing.T) {
	names, err := filepath.Glob("testdata/*.slt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no scripts in testdata: %v", err)
	}
	var scripts []Script
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, Script{Name: name, Text: string(text)})
	}
	runRadish(t, scripts)
}

// TestSample runs the sample of the public sqllogictest corpus, whose results are MySQL's. It lies outside the
// repository (81 MB): RADISH_SLT names it, or it is found beside the checkout. With -short, a few files of it.
func TestSample(t *testing.T) {
	path := os.Getenv("RADISH_SLT")
	if path == "" {
		path = "../../../shared/sqllogictest.tar.gz"
	}
	scripts, err := readTarball(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no sqllogictest sample: %v (RADISH_SLT may name it)", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if *match != "" {
		pattern := regexp.MustCompile(*match)
		scripts = slices.DeleteFunc(scripts, func(s Script) bool { return !pattern.MatchString(s.Name) })
	}
	if testing.Short() {
		scripts = pick(t, scripts, 8<<20)
	}
	runRadish(t, scripts)
}

// pick chooses at random, up to so many bytes of text.
func pick(t *testing.T, scripts []Script, most int) []Script {
	seed := rand.Uint64()
	t.Logf("sample of the sample, seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(scripts), func(i, j int) { scripts[i], scripts[j] = scripts[j], scripts[i] })
	var picked []Script
	for _, s := range scripts {
		if len(s.Text) <= most {
			picked = append(picked, s)
			most -= len(s.Text)
		}
	}
	return picked
}

// readTarball reads the scripts straight from the archive.
func readTarball(path string) ([]Script, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var scripts []Script
	archive := tar.NewReader(zip)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return scripts, nil
		}
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(h.Name, ".test") {
			continue
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			return nil, err
		}
		scripts = append(scripts, Script{Name: h.Name, Text: string(text)})
	}
}
