package sqllogic

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	_ "github.com/radish-sql/radish"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

var show = flag.Int("show", 20, "wrong answers to print")
var device = flag.String("device", "", "where pipelines run: cpu, gpu, auto, emulated (the code for GPUs, on the processor) or auto-emulated (auto, which takes that for a GPU); empty: auto")
var devices = flag.Int("devices", 1, "devices that share each query, with -device emulated")
var queries = flag.Int("queries", 0, "run so many of the sample's queries, chosen at random; 0: all")
var match = flag.String("files", "", "run the sample's files whose name matches this pattern only")

// known are the refusals that are allowed, each with why. A record refused for any other reason fails the test.
// docs/reference/differences.md lists them too.
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
		dsn = "?device=" + map[string]string{"emulated": "gpu", "auto-emulated": "auto"}[*device]
		if !strings.HasSuffix(*device, "emulated") {
			dsn = "?device=" + *device
		}
	}
	db, err := sql.Open("radish", dsn)
	if err != nil {
		return nil, err
	}
	e, err := NewEngine(ctx, db)
	if err == nil && *devices > 1 {
		err = e.Exec(ctx, fmt.Sprintf("SET radish_gpu_share = 'always', radish_gpu_devices = '%s'", deviceList()))
	}
	if err == nil && (*device == "gpu" || *device == "emulated") {
		e = onDevice{e}
	}
	if err == nil && *device == "auto-emulated" {
		e = onBoth{e}
	}
	return e, err
}

// deviceList are the numbers of the devices.
func deviceList() string {
	list := make([]string, *devices)
	for i := range list {
		list[i] = strconv.Itoa(i)
	}
	return strings.Join(list, ",")
}

// onDevice asks for every pipeline on the GPU first; what is refused it counts, and runs again with the pipelines there that can.
type onDevice struct{ Engine }

var refusals = struct {
	sync.Mutex
	reasons       map[string]int
	whole, partly int // statements
}{reasons: map[string]int{}}

// refused says whether an error is that of gpu_strict.
var refused = regexp.MustCompile(`(?s) on the GPU is not supported: (.*?)(?: \(hint.*)?$`)

func (d onDevice) both(ctx context.Context, run func() error) error {
	if err := d.Engine.Exec(ctx, "SET radish_device = 'gpu_strict'"); err != nil {
		return err
	}
	err := run()
	refusals.Lock()
	defer refusals.Unlock()
	if err == nil {
		refusals.whole++
		return nil
	}
	why := refused.FindStringSubmatch(err.Error())
	if why == nil {
		return err
	}
	refusals.partly++
	refusals.reasons[regexp.MustCompile(`'[^']*'|\d+`).ReplaceAllString(why[1], "..")]++
	if err := d.Engine.Exec(ctx, "SET radish_device = 'gpu'"); err != nil {
		return err
	}
	refusals.Unlock()
	defer refusals.Lock()
	return run()
}

func (d onDevice) Exec(ctx context.Context, sql string) error {
	return d.both(ctx, func() error { return d.Engine.Exec(ctx, sql) })
}

func (d onDevice) Query(ctx context.Context, sql, types string) (values []string, err error) {
	err = d.both(ctx, func() error {
		values, err = d.Engine.Query(ctx, sql, types)
		return err
	})
	return values, err
}

func TestMain(m *testing.M) {
	flag.Parse()
	if *devices > 1 {
		os.Setenv("RADISH_EMULATED_DEVICES", strconv.Itoa(*devices))
	}
	if strings.HasSuffix(*device, "emulated") {
		base, err := os.UserCacheDir()
		if err != nil {
			base = os.TempDir()
		}
		library, err := gpukernels.BuildEmulated(context.Background(), filepath.Join(base, "radish", "emulated"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Setenv(gpukernels.LibraryVariable, library)
	}
	if *device == "auto-emulated" {
		if err := emulateAuto(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// runRadish fails the test on any wrong answer and any refusal that is not known.
func runRadish(t *testing.T, scripts []Script, skip func(*Record) bool) {
	t.Helper()
	runScripts(t, scripts, skip, openRadish)
}

// runScripts is runRadish over engines that open gives.
func runScripts(t *testing.T, scripts []Script, skip func(*Record) bool, open func(context.Context) (Engine, error)) {
	t.Helper()
	reports := (&Runner{Open: open, Skip: skip}).Run(t.Context(), scripts)
	if !Print(t.Output(), reports, *show) {
		t.Fail()
	}
	if refusals.whole+refusals.partly > 0 {
		t.Logf("%d statements were run with gpu_strict; of %d it refused a pipeline:", refusals.whole, refusals.partly)
		for _, why := range slices.Sorted(maps.Keys(refusals.reasons)) {
			t.Logf("%6d %s", refusals.reasons[why], why)
		}
		refusals.whole, refusals.partly, refusals.reasons = 0, 0, map[string]int{}
	}
	if *device == "auto-emulated" {
		ranOnBoth(t)
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
	scripts := ownScripts(t)
	skip := someQueries(t, scripts)
	if *device != "auto-emulated" && *devices == 1 {
		skip = nil
	}
	runRadish(t, scripts, skip)
}

// ownScripts are the scripts of this repository.
func ownScripts(t *testing.T) (scripts []Script) {
	t.Helper()
	names, err := filepath.Glob("testdata/*.slt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no scripts in testdata: %v", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, Script{Name: name, Text: string(text)})
	}
	return scripts
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
	for i := range scripts {
		// MySQL writes through views, which the corpus knows of SQL Server only.
		scripts[i].Text = strings.ReplaceAll(scripts[i].Text, "skipif mssql  # this is allowed\nstatement error\n", "statement ok\n")
	}
	if testing.Short() {
		scripts = pick(t, scripts, 8<<20)
	}
	runRadish(t, scripts, someQueries(t, scripts))
}

// someQueries leaves out as many queries, at random, as the flag says. Those that assign variables stay: later ones read them.
func someQueries(t *testing.T, scripts []Script) func(*Record) bool {
	if *queries == 0 {
		return nil
	}
	late := 0
	t.Cleanup(func() { t.Logf("%d queries left out for want of time", late) })
	all := 0
	for _, s := range scripts {
		all += strings.Count(s.Text, "\nquery ")
	}
	seed := gputest.Seed(t)
	t.Logf("about %d of %d queries", *queries, all)
	var mu sync.Mutex
	return func(r *Record) bool {
		if assigns(r.SQL) {
			return false
		}
		h := fnv.New64a() // scripts run in any order
		fmt.Fprint(h, seed, r.Line, r.SQL)
		mu.Lock()
		defer mu.Unlock()
		chosen := rand.New(rand.NewPCG(h.Sum64(), 0)).IntN(max(all, 1)) < *queries
		if chosen && gputest.TimeUp(t) {
			late++
		}
		return !chosen || gputest.TimeUp(t)
	}
}

// assigns says whether a query assigns user variables.
func assigns(sql string) bool { return strings.Contains(sql, ":=") }

// pick chooses at random, up to so many bytes of text.
func pick(t *testing.T, scripts []Script, most int) []Script {
	rng := rand.New(rand.NewPCG(gputest.Seed(t), 0))
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
