package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

const storedRows = 300_000 // three row groups, the last of them not full

// storedSource makes a table of columns that are stored in all ways: of each width, sorted, constant, with NULLs here and there, in whole row groups and everywhere.
func storedSource(t *testing.T, s *Session) {
	t.Helper()
	mustRun(t, s, `CREATE TABLE src (id INT NOT NULL, tiny TINYINT NOT NULL, small INT, medium INT NOT NULL, wide BIGINT NOT NULL, unsigned_ BIGINT UNSIGNED, same INT NOT NULL,
		gap INT, day DATE, price DECIMAL(12,2), f DOUBLE, special DOUBLE, word VARCHAR(10), none INT, always_null DOUBLE, flag BOOLEAN)`)
	r := rand.New(rand.NewPCG(5, 18))
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), -1}
	builder := table.NewBuilder(lookupTable(t, s, "src"))
	ints := func(of func(i int) int64) encoding.Data {
		d := encoding.Data{Rows: storedRows}
		for i := range storedRows {
			d.Ints = append(d.Ints, of(i))
		}
		return d
	}
	floats := func(of func(i int) float64) encoding.Data {
		d := encoding.Data{Rows: storedRows}
		for i := range storedRows {
			d.Floats = append(d.Floats, of(i))
		}
		return d
	}
	nulls := func(d encoding.Data, null func(i int) bool) encoding.Data {
		d.Valid = column.NewBitmap(storedRows, true)
		for i := range storedRows {
			if null(i) {
				d.Valid.Clear(i)
			}
		}
		return d
	}
	words := encoding.Data{Rows: storedRows}
	for range storedRows {
		words.Strings = append(words.Strings, fmt.Sprint("w", r.IntN(50)))
	}
	group := func(i int) int { return i / table.RowGroupSize }
	cols := []encoding.Data{
		ints(func(i int) int64 { return int64(i) }),
		ints(func(i int) int64 { return r.Int64N(256) - 128 }),
		nulls(ints(func(i int) int64 { return r.Int64N(60_000) + 1000*int64(group(i)) }), func(int) bool { return r.IntN(10) == 0 }),
		ints(func(i int) int64 { return r.Int64N(1 << 31) }),
		ints(func(i int) int64 { return r.Int64() - r.Int64() }),
		nulls(ints(func(i int) int64 { return int64(r.Uint64N(1<<20) + 1<<63 - 1<<19) }), func(i int) bool { return i%7 == 0 }),
		ints(func(int) int64 { return 42 }),
		nulls(ints(func(i int) int64 { return int64(group(i)) }), func(i int) bool { return group(i) == 1 }),
		ints(func(i int) int64 { return 8000 + int64(i/300) }),
		ints(func(i int) int64 { return r.Int64N(1_000_000_000_00) }),
		floats(func(int) float64 { return r.NormFloat64() }),
		nulls(floats(func(i int) float64 {
			if group(i) == 1 { // no NaN here
				return []float64{0, math.Copysign(0, -1)}[r.IntN(2)]
			}
			return special[r.IntN(len(special))]
		}), func(i int) bool { return group(i) == 2 && i%3 == 0 }),
		words,
		nulls(ints(func(int) int64 { return 0 }), func(int) bool { return true }),
		nulls(floats(func(int) float64 { return 0 }), func(int) bool { return true }),
		nulls(ints(func(int) int64 { return r.Int64N(2) }), func(i int) bool { return i == 200_000 }),
	}
	if err := builder.AppendColumns(storedRows, cols); err != nil {
		t.Fatal(err)
	}
	v, err := builder.Finish()
	if err != nil {
		t.Fatal(err)
	}
	err = s.engine.Catalog.Update(func(snap *catalog.Snapshot) (*catalog.Snapshot, error) { return snap.ReplaceTable(v) })
	if err != nil {
		t.Fatal(err)
	}
}

// lookupTable returns the newest version of a table.
func lookupTable(t *testing.T, s *Session, name string) *table.Version {
	t.Helper()
	v, _, err := s.engine.Catalog.Load().Lookup(database.DefaultDatabase, name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// checkSameChunks compares how two tables are stored, column by column, and their values; short runs take one row of seven.
func checkSameChunks(t *testing.T, got, want *table.Version) {
	t.Helper()
	step := 1
	if testing.Short() {
		step = 7
	}
	if len(got.Groups()) != len(want.Groups()) || got.Rows() != want.Rows() {
		t.Fatalf("%d rows in %d groups, want %d in %d", got.Rows(), len(got.Groups()), want.Rows(), len(want.Groups()))
	}
	for g := range got.Groups() {
		for i, def := range want.Schema.Columns {
			a, b := got.Groups()[g].Columns[i], want.Groups()[g].Columns[i]
			bits := func(v types.Value) uint64 { return math.Float64bits(v.F) }
			if a.Kind != b.Kind || a.Type != b.Type || a.Base != b.Base || a.NullCount != b.NullCount || a.Sorted != b.Sorted || a.Min.Null != b.Min.Null || a.Min.I != b.Min.I || a.Max.I != b.Max.I ||
				bits(a.Min) != bits(b.Min) || bits(a.Max) != bits(b.Max) || a.Min.S != b.Min.S || a.Max.S != b.Max.S || (a.Valid == nil) != (b.Valid == nil) || a.ItemWidth() != b.ItemWidth() {
				t.Errorf("column %s, group %d: %v base %d, %d NULLs, sorted %v, %v to %v; want %v base %d, %d NULLs, sorted %v, %v to %v", def.Name, g,
					a.Kind, a.Base, a.NullCount, a.Sorted, a.Min, a.Max, b.Kind, b.Base, b.NullCount, b.Sorted, b.Min, b.Max)
				continue
			}
			for row := 0; row < a.Rows; row += step {
				x, y := a.At(row), b.At(row)
				if x.Null != y.Null || !x.Null && (x.I != y.I || bits(x) != bits(y) || x.S != y.S) {
					t.Fatalf("column %s, group %d, row %d: %v, want %v", def.Name, g, row, x, y)
				}
			}
		}
	}
}

// A result that the device encodes is stored bit by bit as the CPU stores it, and its columns are on the device for the next query. What cannot be encoded there, or
// is refused, is as ever.
func TestGPUStores(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) { testGPUStores(t, e, 0) })
}

// What the host has looked for before the result was there holds the same.
func TestGPUStoresPrepared(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		theGPU(t, e).Tune(func(t *kernel.Tuning) { t.Results.PreparedBytes = 0 })
		testGPUStores(t, e, 1)
	})
}

// testGPUStores compares what the device and the CPU store of results. Short runs take every other result, from first on, and a third of its columns' queries.
func testGPUStores(t *testing.T, e *Engine, first int) {
	s := e.NewSession()
	storedSource(t, s)
	d := theGPU(t, e)
	for i, sql := range []string{
		"SELECT * FROM src WHERE id >= 0 ORDER BY id",
		"SELECT * FROM src WHERE id % 3 <> 1 ORDER BY medium, id",
		"SELECT id + 1 AS id, small * 2 AS s, f / 2 AS half, wide DIV 3 AS w, unsigned_ AS u FROM src WHERE id >= 0 ORDER BY id DESC",
		"SELECT a.id, b.price, a.f FROM src AS a JOIN src AS b ON a.id = b.id ORDER BY a.id",
		"SELECT id, tiny FROM src WHERE id >= 0 ORDER BY id LIMIT 200000",
	} {
		if testing.Short() && i%2 != first {
			continue
		}
		mustRun(t, s, "SET radish_device = 'cpu'; DROP TABLE IF EXISTS want; CREATE TABLE want AS "+sql)
		mustRun(t, s, "SET radish_device = 'gpu_strict'")
		mustRun(t, s, "CREATE TABLE got AS "+sql)
		got := lookupTable(t, s, "got")
		checkSameChunks(t, got, lookupTable(t, s, "want"))
		var kept []string
		for _, c := range d.ResidentColumns() {
			if c.Table == "got" && c.Ready {
				kept = append(kept, c.Column)
			}
		}
		for _, c := range got.Schema.Columns {
			if !c.Type.IsString() && !slices.Contains(kept, c.Name) {
				t.Errorf("%s: column %s is not on the device, only %s", sql, c.Name, kept)
			}
		}
		for k, c := range got.Schema.Columns {
			if testing.Short() && (i+k)%3 > 0 {
				continue
			}
			q := fmt.Sprintf("SELECT COUNT(*), COUNT(`%s`), MIN(`%s`), MAX(`%s`), SUM(`%s` %% 1000) FROM ", c.Name, c.Name, c.Name, c.Name)
			if c.Type.IsString() || c.Type.Phys() == types.PhysFloat64 {
				q = fmt.Sprintf("SELECT COUNT(*), COUNT(`%s`), MIN(`%s`), MAX(`%s`) FROM ", c.Name, c.Name, c.Name)
			}
			want := textOnCPU(t, s, q+"want", "gpu_strict")
			if have := mustRun(t, s, q+"got"); have != want {
				t.Errorf("%s: %s: %s, want %s", sql, q, have, want)
			}
		}
		mustRun(t, s, "DROP TABLE got")
	}
}

// A dropped table's columns leave the device at once, without Go's collector, but for those that another table has in common. A transaction that still sees the table
// reads it, and a table that is renamed keeps its columns.
func TestGPUForgetsDropped(t *testing.T) { eachGPU(t, testGPUForgetsDropped) }

func testGPUForgetsDropped(t *testing.T, e *Engine) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	s, other := e.NewSession(), e.NewSession()
	storedSource(t, s)
	d := theGPU(t, e)
	resident := func(table string) (n int) {
		for _, c := range d.ResidentColumns() {
			if c.Table == table && c.Ready {
				n++
			}
		}
		return n
	}
	mustRun(t, s, "SET radish_device = 'gpu_strict'; CREATE TABLE got AS SELECT id, tiny, id + 1 AS k FROM src WHERE id >= 0; ALTER TABLE got RENAME TO renamed")
	const sum = "SELECT COUNT(*), SUM(id + tiny), SUM(k) FROM "
	want := mustRun(t, s, sum+"renamed")
	if n := resident("renamed"); n != 3 {
		t.Fatalf("%d columns of the table are on the device, want 3", n)
	}
	mustRun(t, other, "SET radish_device = 'gpu_strict'; START TRANSACTION; SELECT COUNT(*) FROM src")
	held := d.ResidentBytes(lookupTable(t, s, "renamed"))
	before, err := d.Memory()
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, s, "DROP TABLE renamed")
	after, err := d.Memory()
	if err != nil {
		t.Fatal(err)
	}
	if n := resident("got") + resident("renamed"); n != 0 || held == 0 || before.Resident-after.Resident != held {
		t.Errorf("%d columns of the dropped table are on the device; of %d bytes %d are given back", n, held, before.Resident-after.Resident)
	}
	if got := mustRun(t, other, sum+"renamed"); got != want {
		t.Errorf("a transaction reads %s from a table that another session dropped, want %s", got, want)
	}
	mustRun(t, other, "COMMIT")
	for range 3 {
		mustRun(t, s, "CREATE TABLE got AS SELECT id, tiny, id + 1 AS k FROM src WHERE id >= 0")
		if got := mustRun(t, s, sum+"got"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		mustRun(t, s, "DROP TABLE got")
	}
}

// INSERT ... SELECT into tables with and without rows, and the mistakes that it meets.
func TestGPUStoresInserted(t *testing.T) { eachGPU(t, testGPUStoresInserted) }

func testGPUStoresInserted(t *testing.T, e *Engine) {
	s := e.NewSession()
	storedSource(t, s)
	d := theGPU(t, e)
	before := queryBytes(t, d)
	fill := func(device, name string) {
		mustRun(t, s, "SET radish_device = '"+device+"'; CREATE TABLE "+name+" (k BIGINT NOT NULL PRIMARY KEY, small INT, f DOUBLE, word VARCHAR(20))")
		mustRun(t, s, "INSERT INTO "+name+" SELECT id, small, f, word FROM src WHERE id < 150000 ORDER BY id")
		mustRun(t, s, "INSERT INTO "+name+" VALUES (-1, -1, -1, 'one')")
		mustRun(t, s, "INSERT INTO "+name+" SELECT id, tiny, special, word FROM src WHERE id >= 150000 ORDER BY id")
	}
	fill("cpu", "want")
	fill("gpu", "got")
	checkSameChunks(t, lookupTable(t, s, "got"), lookupTable(t, s, "want"))
	for sql, number := range map[string]sqlerr.Code{
		"INSERT INTO got SELECT id, small, f, word FROM src WHERE id >= 0":                         sqlerr.CodeDupEntry,
		"CREATE TABLE twice (k INT PRIMARY KEY) AS SELECT tiny AS k FROM src WHERE id >= 0":        sqlerr.CodeDupEntry,
		"CREATE TABLE null_ (small INT NOT NULL) AS SELECT small FROM src WHERE id >= 0":           sqlerr.CodeBadNull,
		"CREATE TABLE narrow (medium SMALLINT) AS SELECT medium FROM src WHERE id >= 0":            sqlerr.CodeOutOfRangeForColumn,
		"CREATE TABLE checked (tiny INT CHECK (tiny < 100)) AS SELECT tiny FROM src WHERE id >= 0": sqlerr.CodeCheckViolated,
	} {
		_, err := run(context.Background(), s, sql)
		var x *sqlerr.Error
		if !errors.As(err, &x) || x.Code != number {
			t.Errorf("%s: %v, want error %d", sql, err, number)
		}
	}
	if got := mustRun(t, s, "SELECT COUNT(*), SUM(k) FROM got"); got != mustRun(t, s, "SELECT COUNT(*), SUM(k) FROM want") {
		t.Errorf("after mistakes: %s", got)
	}
	if after := settled(t, d, before); after != before {
		t.Errorf("%d bytes of device memory are left", after-before)
	}
}

// What is inserted behind other rows stays on the device, too: where the column keeps its frame of reference, the rows before are copied there, and nothing is uploaded
// but bitmaps.
func TestGPUStoresBehind(t *testing.T) { eachGPU(t, testGPUStoresBehind) }

func testGPUStoresBehind(t *testing.T, e *Engine) {
	s := e.NewSession()
	storedSource(t, s)
	d := theGPU(t, e)
	before := queryBytes(t, d)
	const columns = "id, tiny, small, wide, f, special, flag, none"
	fill := func(device, name string) {
		mustRun(t, s, "SET radish_device = '"+device+"'; CREATE TABLE "+name+" AS SELECT "+columns+" FROM src WHERE id < 140000 ORDER BY id")
		mustRun(t, s, "INSERT INTO "+name+" SELECT "+columns+" FROM src WHERE id >= 140000 ORDER BY id")
	}
	mustRun(t, s, "SET radish_device = 'gpu_strict'; SELECT MAX(id), MAX(tiny), MAX(small), MAX(wide), MAX(f), MAX(special), MAX(flag), MAX(none) FROM src") // brings the columns
	sent := d.FirstRun().Uploaded
	fill("gpu_strict", "got")
	got := lookupTable(t, s, "got")
	var queries, have []string
	for _, c := range strings.Split(columns, ", ") {
		q := "SELECT COUNT(*), COUNT(%[1]s), MIN(%[1]s), MAX(%[1]s), SUM(id * (%[1]s IS NULL)) FROM "
		if c != "wide" && c != "special" && c != "f" { // whose products exceed 64 bits, or depend on the order
			q = "SELECT SUM(%[1]s), SUM(%[1]s * id), COUNT(*), COUNT(%[1]s), MIN(%[1]s), MAX(%[1]s) FROM "
		}
		q = fmt.Sprintf(q, c)
		queries, have = append(queries, q), append(have, mustRun(t, s, q+"got"))
	}
	const bitmaps = 4 * (storedRows/8 + 2048) // of the columns with NULLs
	if sent = d.FirstRun().Uploaded - sent; sent > bitmaps {
		t.Errorf("%d bytes were uploaded, %d are those of bitmaps", sent, bitmaps)
	}
	fill("cpu", "want")
	checkSameChunks(t, got, lookupTable(t, s, "want"))
	for i, q := range queries {
		if want := mustRun(t, s, q+"want"); have[i] != want {
			t.Errorf("%s: %s, want %s", q, have[i], want)
		}
	}
	mustRun(t, s, "DROP TABLE got; DROP TABLE want")
	if after := settled(t, d, before); after != before {
		t.Errorf("%d bytes of device memory are left", after-before)
	}
}

// Wherever an allocation on the device fails, the table is the same, or the error says that memory ran out. Nothing stays.
func TestGPUStoresOutOfMemory(t *testing.T) { eachGPU(t, testGPUStoresOutOfMemory) }

func testGPUStoresOutOfMemory(t *testing.T, e *Engine) {
	s := e.NewSession()
	storedSource(t, s)
	d := theGPU(t, e)
	before := queryBytes(t, d)
	const sql = "SELECT id, small, f, word FROM src WHERE id % 2 = 0 ORDER BY medium, id"
	mustRun(t, s, "SET radish_device = 'cpu'; CREATE TABLE want AS "+sql)
	mustRun(t, s, "SET radish_device = 'gpu_strict'; CREATE TABLE warm AS "+sql)
	failed, good, untouched := 0, 0, 0
	for n := 1; untouched < 3 && n < 200; n++ {
		d.EvictColumns() // nothing else can be given up
		if err := d.FailAllocation(n); err != nil {
			t.Fatal(err)
		}
		_, err := run(context.Background(), s, "CREATE TABLE got AS "+sql)
		left := d.FailAllocation(0)
		if left != nil {
			t.Fatal(left)
		}
		var x *sqlerr.Error
		switch {
		case err == nil:
			checkSameChunks(t, lookupTable(t, s, "got"), lookupTable(t, s, "want"))
			good++
		case errors.As(err, &x) && x.Kind == sqlerr.Resource && strings.Contains(x.Error(), "ran out of memory"):
			failed++
		default:
			t.Fatalf("allocation %d failing: %v", n, err)
		}
		kept := 0
		for _, c := range d.ResidentColumns() {
			if c.Table == "got" {
				kept++
			}
		}
		if untouched++; err != nil || kept < 3 {
			untouched = 0
		}
		mustRun(t, s, "DROP TABLE IF EXISTS got")
		if after := settled(t, d, before); after != before {
			t.Fatalf("allocation %d failing leaves %d bytes", n, after-before)
		}
	}
	t.Logf("%d allocations failing were errors, in spite of %d the table was stored", failed, good)
	if failed == 0 || good < 5 {
		t.Error("too few allocations failed, or were made good")
	}
}

// The columns that stay count against the device's limit, and the rows against the statement's memory. A cancelled statement leaves nothing.
func TestGPUStoresWithinLimits(t *testing.T) { eachGPU(t, testGPUStoresWithinLimits) }

func testGPUStoresWithinLimits(t *testing.T, e *Engine) {
	s := e.NewSession()
	storedSource(t, s)
	d := theGPU(t, e)
	before := queryBytes(t, d)
	mustRun(t, s, "SET radish_device = 'gpu'")
	const sql = "DROP TABLE IF EXISTS got; CREATE TABLE got AS SELECT id, wide, f FROM src WHERE id >= 0"
	d.LimitMemory(t, 24<<20) // the query's columns and its result, but not all that stays
	defer d.LimitMemory(t, 0)
	mustRun(t, s, sql)
	m, err := d.Memory()
	if err != nil || m.Used > 24<<20 {
		t.Errorf("%d bytes are used (%v)", m.Used, err)
	}
	if got := mustRun(t, s, "SELECT COUNT(*), SUM(id) FROM got"); !strings.Contains(got, fmt.Sprint(storedRows*(storedRows-1)/2)) {
		t.Errorf("under a limit: %s", got)
	}
	d.LimitMemory(t, 0)
	mustRun(t, s, "SET radish_memory_limit = 1000000")
	var x *sqlerr.Error
	if _, err := run(context.Background(), s, sql); !errors.As(err, &x) || x.Kind != sqlerr.Resource {
		t.Errorf("with a memory limit: %v", err)
	}
	mustRun(t, s, "SET radish_memory_limit = 0")
	for i := range 20 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*2*time.Millisecond)
		if _, err := run(ctx, s, sql); err != nil && (!errors.As(err, &x) || x.Kind != sqlerr.Cancelled) {
			t.Errorf("cancelled: %v", err)
		}
		cancel()
	}
	mustRun(t, s, "DROP TABLE IF EXISTS got") // all of them may have been cancelled
	if after := settled(t, d, before); after != before {
		t.Errorf("%d bytes of device memory are left", after-before)
	}
}
