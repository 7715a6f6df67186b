package fuzz

import (
	"fmt"
	"strings"
)

// keyed draws a script of statements that name single rows by a key, one after the other, in transactions and outside, directly and
// prepared, with scans in between that show what became of the rows.
func (g *generator) keyed() *Node {
	g.mark("single rows by keys")
	k := &keyedScript{generator: g, script: &Node{Role: Script, Sep: ";\n", Min: 1}}
	counter := ""
	if g.dialect == nil {
		counter = " AUTO_INCREMENT"
		k.counts = true
	}
	k.add("DROP TABLE IF EXISTS dk")
	k.add("CREATE TABLE dk (id INT NOT NULL" + counter + ", u INT DEFAULT NULL, k INT DEFAULT 3, d DECIMAL(8,2) NOT NULL DEFAULT 1.50, s VARCHAR(12) DEFAULT 'none', c INT NOT NULL DEFAULT 0, PRIMARY KEY (id), UNIQUE (u))")
	if g.chance(60) {
		k.add("CREATE INDEX byk ON dk (k)")
	}
	for range 3 + g.r.IntN(25) {
		k.add(k.insert("INSERT"))
	}
	if g.dialect == nil {
		k.prepare()
	}
	for range 20 + g.r.IntN(30) {
		k.step()
	}
	if k.open {
		k.add(g.any("COMMIT", "ROLLBACK"))
	}
	k.add("SELECT * FROM dk")
	for _, name := range k.prepared {
		k.add("DEALLOCATE PREPARE " + name)
	}
	k.add("DROP TABLE dk")
	return k.script
}

// keyedScript is a script that is being drawn.
type keyedScript struct {
	*generator
	script   *Node
	prepared []string
	counts   bool // id counts itself
	open     bool // a transaction
	saved    bool // it has a savepoint
	renamed  int  // columns that were added
}

func (k *keyedScript) add(text string) {
	kind := Other
	if strings.HasPrefix(text, "SELECT") || strings.HasPrefix(text, "EXECUTE sel") {
		kind = Query
	}
	k.script.Kids = append(k.script.Kids, lit(kind, text))
}

func (k *keyedScript) id() string { return fmt.Sprint(1 + k.r.IntN(24)) }

func (k *keyedScript) unique() string {
	if k.chance(30) {
		return "NULL"
	}
	return fmt.Sprint(k.r.IntN(30))
}

func (k *keyedScript) small() string { return k.any("NULL", "0", "1", "2", "3", "4", "-7") }

func (k *keyedScript) amount() string {
	return fmt.Sprintf("%d.%02d", k.r.IntN(12)-3, 25*k.r.IntN(4))
}

func (k *keyedScript) word() string {
	return k.any("NULL", "'a'", "'b'", "''", "'none'", "'longer word'", "'ü'")
}

// insert names all columns, some, or none.
func (k *keyedScript) insert(verb string) string {
	id := k.id()
	if k.counts && k.chance(30) {
		id = k.any("NULL", "DEFAULT", "NULL")
	}
	switch n := k.r.IntN(10); {
	case n < 6:
		return fmt.Sprintf("%s INTO dk (id, u, k, d, s) VALUES (%s, %s, %s, %s, %s)", verb, id, k.unique(), k.small(), k.amount(), k.word())
	case n < 8:
		return fmt.Sprintf("%s INTO dk (id, s, u) VALUES (%s, %s, %s)", verb, id, k.word(), k.unique())
	case k.counts && n < 9:
		return fmt.Sprintf("%s INTO dk (u, d) VALUES (%s, DEFAULT)", verb, k.unique())
	}
	return fmt.Sprintf("%s INTO dk (k, id) VALUES (%s, %s)", verb, k.small(), id)
}

// by is a condition that leaves one row at most, most of the time.
func (k *keyedScript) by() string {
	switch n := k.r.IntN(20); {
	case n < 12:
		return "id = " + k.id()
	case n < 16:
		return "u = " + fmt.Sprint(k.r.IntN(30))
	case n < 18:
		return fmt.Sprintf("id = %s AND k %s %d", k.id(), k.any("=", "<>", ">", "<="), k.r.IntN(4))
	case n < 19:
		return fmt.Sprintf("id IN (%s, %s)", k.id(), k.id())
	}
	return "k = " + fmt.Sprint(k.r.IntN(4))
}

func (k *keyedScript) assignments() string {
	choices := []string{"k = " + k.small(), "k = k + 1", "d = " + k.amount(), "d = d * 2 - 1", "s = " + k.word(), "s = SUBSTRING(s, 2)", "u = " + k.unique(), "u = u + 30", "k = id", "k = u"}
	if k.dialect == nil {
		choices = append(choices, "k = DEFAULT", "d = DEFAULT", "s = DEFAULT", "u = DEFAULT", "s = CONCAT(s, k)", "d = DEFAULT")
	}
	set := pick(k.r, choices)
	for k.chance(35) {
		next := pick(k.r, choices)
		if name, _, _ := strings.Cut(next, " "); !strings.Contains(set, name+" =") {
			// Without MySQL's order of assignments an expression could see either value.
			if k.dialect == nil || !strings.Contains(next, "k = id") && !strings.Contains(set, "id =") && !strings.Contains(next, "id =") && !strings.Contains(next, "k = u") && !strings.Contains(set, "k = u") {
				set += ", " + next
			}
		}
	}
	return set
}

// step adds a statement, or what looks at the rows.
func (k *keyedScript) step() {
	switch n := k.r.IntN(100); {
	case n < 16:
		k.add(k.insert("INSERT"))
	case n < 34:
		set, by := k.assignments(), k.by()
		if k.chance(10) && !strings.HasPrefix(by, "k") && !strings.Contains(by, "IN") {
			set = "id = id + 40"
		}
		k.add("UPDATE dk SET " + set + " WHERE " + by)
	case n < 43:
		k.add("DELETE FROM dk WHERE " + k.by())
	case n < 48:
		k.add(k.insert("REPLACE"))
	case n < 58 && k.dialect == nil:
		k.add(k.insert("INSERT") + " ON DUPLICATE KEY UPDATE " + k.any(k.assignments(), k.assignments(), "d = VALUES(d), k = k + 1", "s = VALUES(s)", "k = VALUES(k) + k, u = VALUES(u)", "d = DEFAULT", "k = DEFAULT, s = VALUES(s)", "id = id + 50") + ", c = c + 1") // MariaDB counts a row whose NULLs stay NULL
	case n < 70 && len(k.prepared) > 0:
		k.execute()
	case n < 80:
		k.transact()
	case n < 82 && !k.open && k.dialect == nil:
		k.alter()
	default:
		k.add(k.look())
	}
}

func (k *keyedScript) look() string {
	return k.any(
		"SELECT * FROM dk", "SELECT * FROM dk WHERE "+k.by(), "SELECT * FROM dk WHERE "+k.by(), "SELECT k, COUNT(*), SUM(d), MIN(s), MAX(u) FROM dk GROUP BY k", "SELECT s, COUNT(*), COUNT(DISTINCT k) FROM dk GROUP BY s",
		"SELECT id, s FROM dk WHERE k = "+fmt.Sprint(k.r.IntN(4)), "SELECT id FROM dk WHERE k > 1 AND d < 4.5", "SELECT id FROM dk WHERE u BETWEEN 5 AND 20", "SELECT COUNT(*), MIN(id), MAX(id), MIN(u), MAX(u) FROM dk", "SELECT a.id, b.id FROM dk AS a JOIN dk AS b ON a.u = b.id",
		"SELECT DISTINCT k, s FROM dk", "SELECT id FROM dk WHERE k IS NULL", "SELECT id, k FROM dk WHERE id >= "+k.id()+" ORDER BY id LIMIT 3", "SELECT u FROM dk WHERE u IS NOT NULL ORDER BY u DESC LIMIT 2")
}

// transact opens, ends or divides a transaction.
func (k *keyedScript) transact() {
	if !k.open {
		k.add("BEGIN")
		k.open, k.saved = true, false
		return
	}
	switch n := k.r.IntN(10); {
	case n < 3:
		k.add("SAVEPOINT sp")
		k.saved = true
	case n < 6 && k.saved:
		k.add("ROLLBACK TO SAVEPOINT sp")
	case n < 7 && k.saved:
		k.add("RELEASE SAVEPOINT sp")
		k.saved = false
	default:
		k.add(k.any("COMMIT", "COMMIT", "ROLLBACK"))
		k.open = false
	}
	if k.chance(60) {
		k.add(k.look())
	}
}

// prepare prepares statements with markers.
func (k *keyedScript) prepare() {
	for _, p := range [][2]string{
		{"sel1", "SELECT * FROM dk WHERE id = ?"}, {"sel2", "SELECT id, d FROM dk WHERE k = ? AND d > ?"}, {"sel3", "SELECT k, COUNT(*) FROM dk WHERE u > ? GROUP BY k"}, {"sel4", "SELECT * FROM dk WHERE u = ?"},
		{"ins", "INSERT INTO dk (id, u, k, d) VALUES (?, ?, ?, ?)"}, {"upd1", "UPDATE dk SET k = ?, d = d + ? WHERE id = ?"}, {"upd2", "UPDATE dk SET s = ?, k = DEFAULT WHERE u = ?"}, {"del", "DELETE FROM dk WHERE id = ?"},
		{"rep", "REPLACE INTO dk (id, u, s) VALUES (?, ?, ?)"}, {"ups", "INSERT INTO dk (id, u, k) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE k = VALUES(k), d = DEFAULT, s = CONCAT(s, ?), c = c + 1"},
	} {
		k.add("PREPARE " + p[0] + " FROM '" + p[1] + "'")
		k.prepared = append(k.prepared, p[0])
	}
}

func (k *keyedScript) execute() {
	name := pick(k.r, k.prepared)
	values := map[string][]string{
		"sel1": {k.id()}, "sel2": {k.small(), k.amount()}, "sel3": {k.unique()}, "sel4": {k.unique()}, "ins": {k.id(), k.unique(), k.small(), k.amount()}, "upd1": {k.small(), k.amount(), k.id()},
		"upd2": {k.word(), k.unique()}, "del": {k.id()}, "rep": {k.id(), k.unique(), k.word()}, "ups": {k.id(), k.unique(), k.small(), k.any("'z'", "''", "NULL", "'y'")},
	}[name]
	var set, using []string
	for i, v := range values {
		set, using = append(set, fmt.Sprintf("@v%d = %s", i, v)), append(using, fmt.Sprintf("@v%d", i))
	}
	k.add("SET " + strings.Join(set, ", "))
	k.add("EXECUTE " + name + " USING " + strings.Join(using, ", "))
}

// alter changes the table under the kept plans.
func (k *keyedScript) alter() {
	k.renamed++
	k.add(k.any(fmt.Sprintf("ALTER TABLE dk ADD COLUMN z%d INT DEFAULT %d", k.renamed, k.r.IntN(5)), fmt.Sprintf("ALTER TABLE dk ADD COLUMN z%d VARCHAR(5) DEFAULT 'x' AFTER id", k.renamed), "ALTER TABLE dk ALTER COLUMN k SET DEFAULT 7", "ALTER TABLE dk ALTER COLUMN s SET DEFAULT 'new'",
		"ALTER TABLE dk ALTER COLUMN d SET DEFAULT 2.25", "CREATE INDEX bys ON dk (s)", "CREATE INDEX bysk ON dk (s, k)", "TRUNCATE TABLE dk"))
}
