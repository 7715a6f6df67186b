// Command rows measures statements that concern single rows, through database/sql, in Radish and in SQLite, in one process.
//
//	make bench-rows ROWFLAGS="..." or, here, go run ./cmd/rows [-table 20000] [-count 20000] [-engines radish,sqlite] [-work PATTERN] [-rounds 3]
//
// Every answer is checked: what a lookup gives and how many rows a change affects at once, all rows of the table at the end of each kind
// of statement. A figure is statements per second of the fastest round, by the clock, and the microseconds of processor time that one takes.
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"

	_ "modernc.org/sqlite"

	_ "github.com/radish-sql/radish"
)

// row is what the table should have under a key.
type row struct {
	owner   string
	balance int64
}

// bench is one engine with its table and what that should hold.
type bench struct {
	name  string
	db    *sql.DB
	conn  *sql.Conn
	rows  map[int64]row
	keys  []int64
	next  int64
	rng   *rand.Rand
	count int
}

// work is a kind of statement.
type work struct {
	name  string
	run   func(b *bench) error
	share int // one in so many of the statements is run; 0: all
}

var works = []work{
	{"insert, prepared", func(b *bench) error { return b.inserts(true) }, 0},
	{"insert, text", func(b *bench) error { return b.inserts(false) }, 0},
	{"lookup, prepared", func(b *bench) error { return b.lookups(true) }, 0},
	{"lookup, text", func(b *bench) error { return b.lookups(false) }, 0},
	{"lookup by text key, prepared", func(b *bench) error { return b.byOwner() }, 0},
	{"lookup of 3 keys, prepared", func(b *bench) error { return b.three() }, 0},
	{"update, prepared", func(b *bench) error { return b.updates(true) }, 0},
	{"update, text", func(b *bench) error { return b.updates(false) }, 0},
	{"upsert, prepared", func(b *bench) error { return b.upserts() }, 0},
	{"transactions of 10, prepared", func(b *bench) error { return b.transactions() }, 0},
	{"delete, prepared", func(b *bench) error { return b.deletes(true) }, 0},
	{"delete, text", func(b *bench) error { return b.deletes(false) }, 0},
	{"scan: SUM over the table", func(b *bench) error { return b.scans() }, scanShare},
}

func main() {
	size := flag.Int("table", 20_000, "rows in the table before the first statement")
	count := flag.Int("count", 20_000, "statements of each kind")
	engines := flag.String("engines", "radish,sqlite", "the engines, with commas between")
	only := flag.String("work", "", "a pattern of the names of the kinds of statements; empty: all")
	rounds := flag.Int("rounds", 3, "how often each kind is run")
	profile := flag.String("cpuprofile", "", "a file for a profile of the processor's time")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		must(err)
		must(pprof.StartCPUProfile(f))
		defer pprof.StopCPUProfile()
	}
	fmt.Printf("table of %d rows, %d statements of each kind\n%-32s", *size, *count, "")
	var benches []*bench
	for _, name := range strings.Split(*engines, ",") {
		benches = append(benches, open(name, *size, *count))
		fmt.Printf("%22s", name)
	}
	fmt.Println()
	for _, w := range works {
		if !regexp.MustCompile(*only).MatchString(w.name) {
			continue
		}
		fmt.Printf("%-32s", w.name)
		bestTime, bestCPU := make([]float64, len(benches)), make([]float64, len(benches))
		for range *rounds {
			for i, b := range benches {
				seconds, cpu := b.measure(w)
				if bestTime[i] == 0 || seconds < bestTime[i] {
					bestTime[i] = seconds
				}
				if bestCPU[i] == 0 || cpu < bestCPU[i] {
					bestCPU[i] = cpu
				}
			}
		}
		for i := range benches {
			n := float64(*count / max(1, w.share))
			fmt.Printf("%11.0f/s %6.1f µs", n/bestTime[i], bestCPU[i]/n*1e6)
		}
		fmt.Println()
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func open(name string, size, count int) *bench {
	dsn := ":memory:"
	if name == "radish" {
		dsn = ""
	}
	db, err := sql.Open(name, dsn)
	must(err)
	conn, err := db.Conn(context.Background())
	must(err)
	b := &bench{name: name, db: db, conn: conn, rows: map[int64]row{}, rng: rand.New(rand.NewPCG(1, 2)), count: count}
	b.exec("CREATE TABLE account (id BIGINT PRIMARY KEY, owner VARCHAR(40) NOT NULL, balance BIGINT NOT NULL, branch INT NOT NULL, UNIQUE (owner))")
	b.fill(size)
	b.check()
	return b
}

// fill inserts rows, a thousand by a statement, until the table has so many.
func (b *bench) fill(size int) {
	for len(b.keys) < size {
		var text strings.Builder
		text.WriteString("INSERT INTO account VALUES ")
		for i := range min(1000, size-len(b.keys)) {
			if i > 0 {
				text.WriteByte(',')
			}
			k, r := b.fresh()
			fmt.Fprintf(&text, "(%d,'%s',%d,%d)", k, r.owner, r.balance, k%100)
			b.put(k, r)
		}
		b.exec(text.String())
	}
}

// fresh returns a key that was never used, and its row.
func (b *bench) fresh() (int64, row) {
	b.next++
	return b.next, row{fmt.Sprintf("owner %d", b.next), b.next % 1000}
}

func (b *bench) put(k int64, r row) {
	if _, is := b.rows[k]; !is {
		b.keys = append(b.keys, k)
	}
	b.rows[k] = r
}

func (b *bench) random() int64 { return b.keys[b.rng.IntN(len(b.keys))] }

func (b *bench) exec(text string, args ...any) {
	_, err := b.conn.ExecContext(context.Background(), text, args...)
	must(err)
}

func (b *bench) measure(w work) (seconds, cpu float64) {
	b.fill(b.count + 10) // deletions may have left few
	began, used := time.Now(), cpuTime()
	must(w.run(b))
	seconds, cpu = time.Since(began).Seconds(), (cpuTime() - used).Seconds()
	b.check()
	return seconds, cpu
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// check compares the whole table with what it should hold.
func (b *bench) check() {
	rows, err := b.conn.QueryContext(context.Background(), "SELECT id, owner, balance, branch FROM account")
	must(err)
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var k, branch int64
		var r row
		must(rows.Scan(&k, &r.owner, &r.balance, &branch))
		if want, is := b.rows[k]; !is || want != r || branch != k%100 {
			log.Fatalf("%s: row %d is %v, branch %d; want %v", b.name, k, r, branch, want)
		}
	}
	must(rows.Err())
	if n != len(b.rows) {
		log.Fatalf("%s: %d rows; want %d", b.name, n, len(b.rows))
	}
}

// executor runs one text with changing arguments, prepared or not, and checks how many rows it affects.
func (b *bench) executor(text string, prepared bool) (run func(affects int64, args ...any) error, done func()) {
	do := func(args ...any) (sql.Result, error) { return b.conn.ExecContext(context.Background(), text, args...) }
	done = func() {}
	if prepared {
		stmt, err := b.conn.PrepareContext(context.Background(), text)
		must(err)
		do, done = stmt.Exec, func() { stmt.Close() }
	}
	return func(affects int64, args ...any) error {
		res, err := do(args...)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || affects >= 0 && n != affects {
			return fmt.Errorf("%s: %d rows affected, want %d: %w", text, n, affects, err)
		}
		return nil
	}, done
}

func (b *bench) inserts(prepared bool) error {
	run, done := b.executor("INSERT INTO account (id, owner, balance, branch) VALUES (?, ?, ?, ?)", prepared)
	defer done()
	for range b.count {
		k, r := b.fresh()
		if err := run(1, k, r.owner, r.balance, k%100); err != nil {
			return err
		}
		b.put(k, r)
	}
	return nil
}

func (b *bench) lookups(prepared bool) error {
	const text = "SELECT owner, balance FROM account WHERE id = ?"
	query := func(k int64) *sql.Row { return b.conn.QueryRowContext(context.Background(), text, k) }
	if prepared {
		stmt, err := b.conn.PrepareContext(context.Background(), text)
		if err != nil {
			return err
		}
		defer stmt.Close()
		query = func(k int64) *sql.Row { return stmt.QueryRow(k) }
	}
	for range b.count {
		k := b.random()
		var r row
		if err := query(k).Scan(&r.owner, &r.balance); err != nil || r != b.rows[k] {
			return fmt.Errorf("%s: lookup of %d gives %v, want %v: %w", b.name, k, r, b.rows[k], err)
		}
	}
	return nil
}

func (b *bench) byOwner() error {
	stmt, err := b.conn.PrepareContext(context.Background(), "SELECT id, balance FROM account WHERE owner = ? AND branch = ?")
	if err != nil {
		return err
	}
	defer stmt.Close()
	for range b.count {
		k := b.random()
		var id, balance int64
		if err := stmt.QueryRow(b.rows[k].owner, k%100).Scan(&id, &balance); err != nil || id != k || balance != b.rows[k].balance {
			return fmt.Errorf("%s: lookup of '%s' gives %d: %w", b.name, b.rows[k].owner, id, err)
		}
	}
	return nil
}

func (b *bench) three() error {
	stmt, err := b.conn.PrepareContext(context.Background(), "SELECT id, balance FROM account WHERE id IN (?, ?, ?)")
	if err != nil {
		return err
	}
	defer stmt.Close()
	for range b.count {
		wanted := []int64{b.random(), b.random(), b.random()}
		rows, err := stmt.Query(wanted[0], wanted[1], wanted[2])
		if err != nil {
			return err
		}
		n := 0
		for ; rows.Next(); n++ {
			var id, balance int64
			if err := rows.Scan(&id, &balance); err != nil || !slices.Contains(wanted, id) || balance != b.rows[id].balance {
				return fmt.Errorf("%s: %d is none of %v, or has another balance than %d: %w", b.name, id, wanted, balance, err)
			}
		}
		slices.Sort(wanted)
		if err := rows.Close(); err != nil || n != len(slices.Compact(wanted)) {
			return fmt.Errorf("%s: %d rows for the keys %v: %w", b.name, n, wanted, err)
		}
	}
	return nil
}

func (b *bench) updates(prepared bool) error {
	run, done := b.executor("UPDATE account SET balance = balance + ? WHERE id = ?", prepared)
	defer done()
	for i := range b.count {
		k := b.random()
		if err := run(1, i+1, k); err != nil {
			return err
		}
		r := b.rows[k]
		r.balance += int64(i + 1)
		b.rows[k] = r
	}
	return nil
}

func (b *bench) upserts() error {
	end := "ON DUPLICATE KEY UPDATE balance = VALUES(balance)"
	if b.name == "sqlite" {
		end = "ON CONFLICT (id) DO UPDATE SET balance = excluded.balance"
	}
	run, done := b.executor("INSERT INTO account VALUES (?, ?, ?, ?) "+end, true)
	defer done()
	for i := range b.count {
		k, r := b.random(), row{}
		if i%2 == 0 {
			k, r = b.fresh()
		} else {
			r = b.rows[k]
			r.balance++
		}
		if err := run(-1, k, r.owner, r.balance, k%100); err != nil {
			return err
		}
		b.put(k, r)
	}
	return nil
}

// transactions are of ten statements: four lookups, three updates, two inserts and a delete.
func (b *bench) transactions() error {
	ctx := context.Background()
	var stmts []*sql.Stmt
	for _, text := range []string{
		"SELECT balance FROM account WHERE id = ?", "UPDATE account SET balance = ? WHERE id = ?",
		"INSERT INTO account VALUES (?, ?, ?, ?)", "DELETE FROM account WHERE id = ?",
	} {
		s, err := b.conn.PrepareContext(ctx, text)
		if err != nil {
			return err
		}
		defer s.Close()
		stmts = append(stmts, s)
	}
	for range b.count / 10 {
		tx, err := b.conn.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		var last int64
		for i := range 10 {
			var err error
			switch {
			case i < 4:
				var balance int64
				k := b.random()
				if err = stmts[0].QueryRow(k).Scan(&balance); err == nil && balance != b.rows[k].balance {
					err = fmt.Errorf("balance %d, want %d", balance, b.rows[k].balance)
				}
			case i < 7:
				k := b.random()
				r := b.rows[k]
				r.balance += 7
				_, err = stmts[1].Exec(r.balance, k)
				b.rows[k] = r
			case i < 9:
				k, r := b.fresh()
				_, err = stmts[2].Exec(k, r.owner, r.balance, k%100)
				b.put(k, r)
				last = k
			default:
				_, err = stmts[3].Exec(last)
				b.drop(len(b.keys) - 1)
			}
			if err != nil {
				return err
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) drop(i int) {
	delete(b.rows, b.keys[i])
	b.keys[i] = b.keys[len(b.keys)-1]
	b.keys = b.keys[:len(b.keys)-1]
}

func (b *bench) deletes(prepared bool) error {
	run, done := b.executor("DELETE FROM account WHERE id = ?", prepared)
	defer done()
	for range b.count {
		i := b.rng.IntN(len(b.keys))
		if err := run(1, b.keys[i]); err != nil {
			return err
		}
		b.drop(i)
	}
	return nil
}

// scanShare is how many statements of other kinds there are to one that reads the whole table.
const scanShare = 100

// scans reads the whole table.
func (b *bench) scans() error {
	want := int64(0)
	for _, r := range b.rows {
		want += r.balance
	}
	for range b.count / scanShare {
		var sum int64
		if err := b.conn.QueryRowContext(context.Background(), "SELECT SUM(balance) FROM account WHERE branch >= 0").Scan(&sum); err != nil || sum != want {
			return fmt.Errorf("%s: the sum is %d, want %d: %w", b.name, sum, want, err)
		}
	}
	return nil
}
