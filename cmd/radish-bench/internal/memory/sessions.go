package memory

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// many returns a client that runs n statements made by a format with the statement's number.
func many(n int, format string) func(context.Context, *memoryClient) error {
	return func(ctx context.Context, c *memoryClient) error {
		return c.each(ctx, n, func(i int) string { return strings.ReplaceAll(format, "{i}", fmt.Sprint(i)) })
	}
}

// sessionCases are what outlives its statement.
var sessionCases = []memoryCase{
	{name: "60 user variables of 10 MB", client: many(60, "SET @x{i} = REPEAT('a', 10000000)"), quick: true},
	{name: "60 user variables by INTO", client: many(60, "SELECT REPEAT('a', 10000000) INTO @x{i}")},
	{name: "a million user variables", client: func(ctx context.Context, c *memoryClient) error {
		return c.each(ctx, 1000, func(i int) string {
			b := []byte("SET ")
			for k := range 1000 {
				b = fmt.Appendf(b, "@x%d_%d = %d,", i, k, k)
			}
			return string(b[:len(b)-1])
		})
	}},
	{name: "60 statements prepared from texts of 10 MB", quick: true,
		client: many(60, "SET @t = CONCAT('SELECT LENGTH(''', REPEAT('a', 10000000), ''')'); PREPARE p{i} FROM @t; SET @t = NULL")},
	{name: "60 statements prepared from lists", client: many(60, "SET @t = CONCAT('SELECT 1 IN (1', REPEAT(',12', 100000), ')'); PREPARE p{i} FROM @t; SET @t = NULL")},
	{name: "1,000 sessions with a variable of 1 MB", client: func(ctx context.Context, c *memoryClient) error {
		for range 1000 {
			conn, err := c.db.Conn()
			if err != nil {
				return err
			}
			defer conn.Close()
			if _, err := conn.Exec(ctx, "SET @x = REPEAT('a', 1000000)"); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "60 views of 10 MB", client: many(60, "SET @t = CONCAT('CREATE VIEW v{i} AS SELECT ''', REPEAT('a', 10000000), ''' AS x');"+
		" PREPARE p FROM @t; EXECUTE p; DEALLOCATE PREPARE p; SET @t = NULL")},
	{name: "300 defaults of 2 MB", client: func(ctx context.Context, c *memoryClient) error {
		return c.each(ctx, 300, func(i int) string {
			return fmt.Sprintf("CREATE TABLE d%d (a LONGTEXT DEFAULT ('%s'))", i, strings.Repeat("a", 2000000))
		})
	}},
	{name: "300 CHECKs of 2 MB", client: func(ctx context.Context, c *memoryClient) error {
		return c.each(ctx, 300, func(i int) string {
			return fmt.Sprintf("CREATE TABLE d%d (a LONGTEXT CHECK (a <> '%s'))", i, strings.Repeat("a", 2000000))
		})
	}},
	{name: "ENUM of many names", client: func(ctx context.Context, c *memoryClient) error {
		return c.each(ctx, 60, func(i int) string {
			b := fmt.Appendf(nil, "CREATE TABLE d%d (a ENUM(", i)
			for k := range 60000 {
				b = fmt.Appendf(b, "'%d%s',", k, strings.Repeat("a", 200))
			}
			return string(b[:len(b)-1]) + "))"
		})
	}},
	{name: "300 comments of 2 MB", client: func(ctx context.Context, c *memoryClient) error {
		return c.each(ctx, 300, func(i int) string {
			return fmt.Sprintf("CREATE TABLE d%d (a LONGTEXT) COMMENT '%s'", i, strings.Repeat("a", 2000000))
		})
	}},
	{name: "warnings of 1 MB of NULLs", client: func(ctx context.Context, c *memoryClient) error {
		return c.each(ctx, 1, func(i int) string { return "SELECT CAST(CONCAT(REPEAT('x', 1000000), id) AS DATE) FROM n LIMIT 2000" })
	}},
	{name: "savepoints", client: func(ctx context.Context, c *memoryClient) error {
		if _, err := c.conn.Exec(ctx, "CREATE TABLE u AS SELECT * FROM n LIMIT 50000; BEGIN"); err != nil {
			return err
		}
		return c.each(ctx, 200, func(i int) string {
			return fmt.Sprintf("SAVEPOINT s%d; UPDATE u SET d = d + 1, s = CONCAT('row ', %d, id)", i, i)
		})
	}},
	{name: "60 rows open", client: func(ctx context.Context, c *memoryClient) error {
		for range 60 {
			conn, err := c.db.Conn()
			if err != nil {
				return err
			}
			rows, err := conn.Query(ctx, "SELECT REPEAT(MD5(a.id), 100) FROM n a, n b")
			if err != nil {
				return err
			}
			defer rows.Close()
			rows.Next()
		}
		return nil
	}},
	{name: "64 sessions that sort at once", quick: true, client: func(ctx context.Context, c *memoryClient) error {
		var all errgroup.Group
		for range 64 {
			conn, err := c.db.Conn()
			if err != nil {
				return err
			}
			defer conn.Close()
			all.Go(func() error {
				return sqlerr.Guard(func() error {
					_, err := conn.Exec(ctx, "SELECT REPEAT(MD5(id), 13) AS t FROM n ORDER BY t")
					return err
				})
			})
		}
		return all.Wait()
	}},
	{name: "60 sorted rows open", client: func(ctx context.Context, c *memoryClient) error {
		for range 60 {
			conn, err := c.db.Conn()
			if err != nil {
				return err
			}
			rows, err := conn.Query(ctx, "SELECT REPEAT(MD5(a.id), 10) AS t FROM n a ORDER BY t")
			if err != nil {
				return err
			}
			defer rows.Close()
			rows.Next()
		}
		return nil
	}},
}

// textCases are long strings.
var textCases = []memoryCase{
	{name: "ON DUPLICATE KEY UPDATE, 7.9 MB", setup: "CREATE TABLE c (a INT PRIMARY KEY, b VARCHAR(20), c DOUBLE)", sql: "INSERT INTO c VALUES (-1, 'x', 1)", pieces: 300_000, quick: true,
		literal: ending(300_000, " ON DUPLICATE KEY UPDATE c = c + 1", upserted)},
	{name: "REPLACE, 7.9 MB", setup: "CREATE TABLE c (a INT PRIMARY KEY, b VARCHAR(20), c DOUBLE)", sql: "REPLACE INTO c VALUES (-1, 'x', 1)", pieces: 300_000,
		literal: upserted},
	{name: "INSERT IGNORE, 7.9 MB", setup: "CREATE TABLE c (a INT PRIMARY KEY, b VARCHAR(20), c DOUBLE)", sql: "INSERT IGNORE INTO c VALUES (-1, 'x', 1)", pieces: 300_000,
		literal: upserted},
	{name: "INSERT of 3 million rows, key", setup: "CREATE TABLE c (a INT PRIMARY KEY)", sql: "INSERT INTO c VALUES (-1)", pieces: 3_000_000,
		literal: numbered(",(%d)")},
	{name: "INSERT of ROW()s", setup: "CREATE TABLE c (a INT)", sql: "INSERT INTO c VALUES ROW(-1)", pieces: 500_000,
		literal: numbered(",ROW(%d)")},
	{name: "INSERT of one wide row", setup: "CREATE TABLE c (a INT)", sql: "INSERT INTO c (a) VALUES (1", pieces: 1_000_000,
		literal: ending(1_000_000, ")", same(",1"))},
	{name: "INSERT ... SET", setup: "CREATE TABLE c (a LONGTEXT)", sql: "INSERT INTO c SET a = CONCAT('x'", pieces: 1_000_000,
		literal: ending(1_000_000, ")", same(",'y'"))},
	{name: "VALUES ROW(), a million", sql: "VALUES ROW(1, 'x')", pieces: 1_000_000,
		literal: numbered(",ROW(%d,'text')")},
	{name: "INSERT of one text of 30 MB", setup: "CREATE TABLE c (a INT, b LONGTEXT)", sql: "INSERT INTO c VALUES (1, '", pieces: 300_000,
		literal: ending(300_000, "')", hundred)},
	{name: "INSERT of one hexadecimal text of 30 MB", setup: "CREATE TABLE c (a INT, b LONGBLOB)", sql: "INSERT INTO c VALUES (1, x'", pieces: 300_000,
		literal: ending(300_000, "')", hundred)},
	{name: "SELECT of a literal of 30 MB with escapes", sql: "SELECT LENGTH('\\n", pieces: 300_000,
		literal: ending(300_000, "')", hundred)},
	{name: "syntax error behind 30 MB", sql: "SELEC LENGTH('\\n", pieces: 300_000, literal: ending(300_000, "')", hundred)},
	{name: "unclosed literal of 150 MB", sql: "SELECT LENGTH('\\n", pieces: 1_500_000, literal: ending(1_500_000, "", hundred)},
	{name: "comment of 150 MB", sql: "SELECT 1 /*", pieces: 1_500_000, literal: ending(1_500_000, "*/ + 1", hundred)},
	{name: "/*! of 50 MB", sql: "SELECT 1 /*! + 1", pieces: 25_000_000, literal: ending(25_000_000, "*/", same("+1"))},
	{name: "quoted name of 30 MB", sql: "SELECT 1 AS `", pieces: 300_000, literal: ending(300_000, "`", hundred)},
	{name: "number of 30 MB", sql: "SELECT 1", pieces: 300_000, literal: ending(300_000, "", hundred)},
	{name: "word of 30 MB", sql: "SELECT a", pieces: 300_000, literal: ending(300_000, "", hundred)},
	{name: "IN list of 200,000 numbers", sql: "SELECT COUNT(*) FROM n WHERE id IN (1", pieces: 200_000,
		literal: ending(200_000, ")", func(b []byte, i int) []byte { return fmt.Appendf(b, ",%d", i*7) })},
	{name: "IN list of 50,000 strings", sql: "SELECT COUNT(*) FROM n WHERE s IN ('1'", pieces: 50_000,
		literal: ending(50_000, ")", func(b []byte, i int) []byte { return fmt.Appendf(b, ",'text %d'", i*7) })},
	{name: "IN list of rows", sql: "SELECT COUNT(*) FROM n WHERE (id, k) IN ((1,1)", pieces: 100_000,
		literal: ending(100_000, ")", func(b []byte, i int) []byte { return fmt.Appendf(b, ",(%d,1)", i*7) })},
	{name: "UNION of 5,000", sql: "SELECT 1", pieces: 4_990, literal: numbered(" UNION ALL SELECT %d")},
	{name: "UNION of 5,000 scans", sql: "SELECT id FROM n", pieces: 4_990,
		literal: numbered(" UNION ALL SELECT %d FROM n WHERE id = %[1]d")},
	{name: "CASE of 50,000 WHENs", sql: "SELECT SUM(CASE id WHEN -1 THEN 1", pieces: 50_000,
		literal: ending(50_000, " END) FROM n", whens)},
	{name: "CONCAT of 100,000", sql: "SELECT CONCAT(1", pieces: 100_000,
		literal: ending(100_000, ") FROM n LIMIT 3000", same(",2"))},
	{name: "a hundred thousand statements", sql: "SELECT 0", pieces: 100_000, literal: numbered(";SELECT %d")},
	{name: "a hundred statements of 250 KB", sql: "SELECT 0", pieces: 100, literal: func(b []byte, i int) []byte {
		return append(fmt.Appendf(b, ";SELECT 1 IN (%d", i), strings.Repeat(",1", 125_000)+")"...)
	}},
	{name: "CREATE TABLE of 4,000 columns", sql: "CREATE TABLE c (a INT", pieces: 4_000,
		literal: ending(4_000, ")", numbered(",c%d TEXT"))},
	{name: "CREATE TABLE of 200,000 columns", sql: "CREATE TABLE c (a INT", pieces: 200_000,
		literal: ending(200_000, ")", numbered(",c%d TEXT"))},
	{name: "UPDATE of CASE", sql: "UPDATE n SET k = CASE id WHEN -1 THEN 1", pieces: 50_000, literal: ending(50_000, " END", whens)},
	{name: "SET of 200,000 variables", sql: "SET @a = 1", pieces: 200_000, literal: numbered(", @a%d = %[1]d")},
	{name: "DROP TABLE of 500,000", sql: "DROP TABLE IF EXISTS a", pieces: 500_000, literal: numbered(",t%d")},
	{name: "parentheses", sql: "SELECT ", pieces: 20_000_000, literal: same("(")},
	{name: "markers in the text", sql: "SELECT 1 IN (?", pieces: 500_000, literal: ending(500_000, ")", same(",?"))},
	{name: "joins, 60 tables", sql: "SELECT COUNT(*) FROM n", pieces: 60, literal: numbered(" JOIN n n%d USING (id)")},
	{name: "PREPARE of 30 MB", client: many(1, "SET @t = CONCAT('SELECT LENGTH(''', REPEAT('a', 30000000), ''')'); PREPARE p FROM @t; EXECUTE p")},
	{name: "PREPARE of a list", client: many(1, "SET @t = CONCAT('SELECT 1 IN (1', REPEAT(',12', 1000000), ')'); PREPARE p FROM @t; EXECUTE p")},
}

// same adds a text.
func same(text string) func(b []byte, i int) []byte {
	return func(b []byte, _ int) []byte { return append(b, text...) }
}

// numbered adds a text made by a format with the piece's number.
func numbered(format string) func(b []byte, i int) []byte {
	return func(b []byte, i int) []byte { return fmt.Appendf(b, format, i) }
}

// upserted adds a row. Rows from 250,000 on have the key of an earlier one.
func upserted(b []byte, i int) []byte {
	return fmt.Appendf(b, ",(%d,'text %d',%d.5)", i%250_000, i, i%100)
}

// whens adds a branch of CASE.
func whens(b []byte, i int) []byte { return fmt.Appendf(b, " WHEN %d THEN %d", i, i+1) }

// hundred adds a hundred digits.
func hundred(b []byte, _ int) []byte {
	return append(b, "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"...)
}

// ending adds an end behind the last of n pieces.
func ending(n int, end string, piece func(b []byte, i int) []byte) func(b []byte, i int) []byte {
	return func(b []byte, i int) []byte {
		b = piece(b, i)
		if i == n-1 {
			b = append(b, end...)
		}
		return b
	}
}

// driverCases go through database/sql.
var driverCases = []memoryCase{
	{name: "database/sql: a parameter of 150 MB", client: pooled(func(ctx context.Context, c *memoryClient, db *sql.DB) error {
		text := strings.Repeat("a", 150_000_000)
		*c.own = int64(len(text))
		var n int
		return db.QueryRowContext(ctx, "SELECT LENGTH(?)", text).Scan(&n)
	})},
	{name: "database/sql: bytes of 150 MB", client: pooled(func(ctx context.Context, c *memoryClient, db *sql.DB) error {
		text := make([]byte, 150_000_000)
		for i := range text {
			text[i] = 'x'
		}
		*c.own = int64(len(text))
		var n int
		return db.QueryRowContext(ctx, "SELECT LENGTH(?)", text).Scan(&n)
	}), quick: true},
	{name: "database/sql: INSERT of 150 MB", client: pooled(func(ctx context.Context, c *memoryClient, db *sql.DB) error {
		text := strings.Repeat("a", 150_000_000)
		*c.own = int64(len(text))
		if _, err := db.ExecContext(ctx, "CREATE TABLE c (a LONGTEXT)"); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, "INSERT INTO c VALUES (?)", text)
		return err
	})},
	{name: "database/sql: a variable of 150 MB", client: pooled(func(ctx context.Context, c *memoryClient, db *sql.DB) error {
		text := strings.Repeat("a", 150_000_000)
		*c.own = int64(len(text))
		var n int
		return db.QueryRowContext(ctx, "SELECT LENGTH(@x)", sql.Named("x", text)).Scan(&n)
	})},
	{name: "database/sql: 60 variables of 10 MB", client: pooled(func(ctx context.Context, c *memoryClient, db *sql.DB) error {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		for i := range 60 {
			if _, err := conn.ExecContext(ctx, "DO 1", sql.Named(fmt.Sprint("x", i), make([]byte, 10_000_000))); err != nil {
				return err
			}
		}
		return nil
	})},
	{name: "database/sql: 60,000 parameters", client: pooled(func(ctx context.Context, c *memoryClient, db *sql.DB) error {
		var args []any
		for i := range 60_000 {
			args = append(args, i)
		}
		var n int
		return db.QueryRowContext(ctx, "SELECT COUNT(*) FROM n WHERE id IN (?"+strings.Repeat(",?", len(args)-1)+")", args...).Scan(&n)
	})},
	{name: "database/sql: INSERT of 200,000 parameters", client: pooled(func(ctx context.Context, c *memoryClient, db *sql.DB) error {
		var args []any
		for i := range 100_000 {
			args = append(args, i, fmt.Sprint("text ", i))
		}
		if _, err := db.ExecContext(ctx, "CREATE TABLE c (a INT, b TEXT)"); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, "INSERT INTO c VALUES (?,?)"+strings.Repeat(",(?,?)", len(args)/2-1), args...)
		return err
	})},
	{name: "database/sql: batch of 20,000 statements", client: pooled(func(ctx context.Context, c *memoryClient, db *sql.DB) error {
		text := "CREATE TABLE c (a INT, b TEXT); " + strings.Repeat("INSERT INTO c VALUES (1, 'a text'); ", 20_000)
		*c.own = int64(len(text))
		_, err := db.ExecContext(ctx, text)
		return err
	})},
	{name: "database/sql: batch of 200,000 statements", client: pooled(func(ctx context.Context, c *memoryClient, db *sql.DB) error {
		text := strings.Repeat("SET @a = 1; ", 200_000)
		*c.own = int64(len(text))
		_, err := db.ExecContext(ctx, text)
		return err
	})},
	{name: "database/sql: 60 prepared texts of 10 MB", client: pooled(func(ctx context.Context, c *memoryClient, db *sql.DB) error {
		for range 60 {
			s, err := db.PrepareContext(ctx, "SELECT LENGTH('"+strings.Repeat("a", 10_000_000)+"')")
			if err != nil {
				return err
			}
			defer s.Close()
		}
		return nil
	})},
	{name: "database/sql: 1,000 prepared lists", client: pooled(func(ctx context.Context, c *memoryClient, db *sql.DB) error {
		for range 1000 {
			s, err := db.PrepareContext(ctx, "SELECT 1 IN (1"+strings.Repeat(",1", 10_000)+")")
			if err != nil {
				return err
			}
			defer s.Close()
		}
		return nil
	})},
	{name: "database/sql: rows of 10 MB", client: pooled(func(ctx context.Context, c *memoryClient, db *sql.DB) error {
		rows, err := db.QueryContext(ctx, "SELECT REPEAT('a', 10000000) FROM n LIMIT 100")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var s string
			if err := rows.Scan(&s); err != nil {
				return err
			}
		}
		return rows.Err()
	})},
}

// pooled calls f with a pool of connections.
func pooled(f func(ctx context.Context, c *memoryClient, db *sql.DB) error) func(context.Context, *memoryClient) error {
	return func(ctx context.Context, c *memoryClient) error {
		db := sql.OpenDB(c.db.Connector())
		defer db.Close()
		return f(ctx, c, db)
	}
}
