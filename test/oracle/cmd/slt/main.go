// Command slt runs sqllogictest scripts in Radish or in MariaDB, and writes MariaDB's answers into them.
//
//	slt [-engine radish|mariadb] [-update] file...
//
// With -update every expectation in the files is replaced by what MariaDB answers. That is how the scripts in
// test/sqllogic/testdata get their expected values: the queries are written by hand, the answers never.
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"

	_ "github.com/radish-sql/radish"
	"github.com/radish-sql/radish/test/oracle/mariadb"
	"github.com/radish-sql/radish/test/sqllogic"
)

func main() {
	engine := flag.String("engine", "radish", "engine to run: radish or mariadb")
	update := flag.Bool("update", false, "replace the files' expectations by MariaDB's answers")
	show := flag.Int("show", 20, "wrong answers to print")
	flag.Parse()
	if flag.NArg() == 0 || *engine != "radish" && *engine != "mariadb" {
		flag.Usage()
		os.Exit(2)
	}
	ok, err := run(context.Background(), *engine, *update, *show, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "slt:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(ctx context.Context, engine string, update bool, show int, files []string) (bool, error) {
	open := func(ctx context.Context) (sqllogic.Engine, error) {
		db, err := sql.Open("radish", "")
		if err != nil {
			return nil, err
		}
		return sqllogic.NewEngine(ctx, db)
	}
	if engine == "mariadb" || update {
		server, err := mariadb.Start(ctx)
		if err != nil {
			return false, err
		}
		defer server.Close()
		open = func(ctx context.Context) (sqllogic.Engine, error) {
			db, err := server.Open(ctx)
			if err != nil {
				return nil, err
			}
			return sqllogic.NewEngine(ctx, db)
		}
	}
	var scripts []sqllogic.Script
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return false, err
		}
		scripts = append(scripts, sqllogic.Script{Name: name, Text: string(text)})
	}
	if update {
		for _, s := range scripts {
			text, err := sqllogic.Rewrite(ctx, s, open)
			if err != nil {
				return false, err
			}
			if err := os.WriteFile(s.Name, []byte(text), 0o644); err != nil {
				return false, err
			}
		}
		return true, nil
	}
	runner := &sqllogic.Runner{Open: open}
	reports := runner.Run(ctx, scripts)
	return sqllogic.Print(os.Stdout, reports, show), nil
}
