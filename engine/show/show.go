// Package show runs SHOW, DESCRIBE and ANALYZE TABLE. What information_schema has too comes from package infoschema.
package show

import (
	"strconv"
	"strings"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/definition"
	"github.com/radish-sql/radish/engine/infoschema"
	"github.com/radish-sql/radish/engine/query"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// Run runs SHOW and DESCRIBE. WHERE is a condition over the columns that SHOW gives.
func Run(st *session.Statement, n *ast.ShowStmt) (*result.Result, error) {
	res, err := showAll(st, n)
	if err != nil || n.Where == nil {
		return res, err
	}
	schema := &table.Schema{Name: "SHOW"}
	for _, c := range res.Columns {
		schema.Columns = append(schema.Columns, table.ColumnDef{Name: c.Name, Type: c.Type, Nullable: true})
	}
	v := table.New(schema)
	for {
		b, err := res.Next(st.Context)
		if err != nil {
			return nil, err
		}
		if b == nil {
			break
		}
		if v, err = v.Append(b); err != nil {
			return nil, err
		}
	}
	q, err := st.Binder().Filter(v, n.Where)
	if err != nil {
		return nil, err
	}
	return query.RunBound(st, q)
}

// showAll runs SHOW without its WHERE.
func showAll(st *session.Statement, n *ast.ShowStmt) (*result.Result, error) {
	s := st.Session
	snap := s.Snapshot()
	switch n.Tp {
	case ast.ShowDatabases:
		names := append(snap.Databases(), infoschema.Name)
		return showNames(st, n, "Database", names)
	case ast.ShowTables:
		return showTables(st, n, snap)
	case ast.ShowColumns:
		return showColumns(st, n, snap)
	case ast.ShowCreateTable, ast.ShowCreateView:
		return showCreate(s, n, snap)
	case ast.ShowCreateDatabase:
		name, err := snap.DatabaseName(n.DBName)
		if err != nil {
			return nil, err
		}
		create := "CREATE DATABASE " + definition.QuoteName(name)
		if c, ok := snap.Collation(name); ok {
			create += " COLLATE " + c.String()
		}
		row := []types.Value{result.Text(name), result.Text(create)}
		return result.RowsResult(result.TextColumns("Database", "Create Database"), [][]types.Value{row}), nil
	case ast.ShowIndex:
		return showIndex(s, n, snap)
	case ast.ShowVariables:
		return showVariables(st, n)
	case ast.ShowWarnings, ast.ShowErrors:
		return showWarnings(s, n), nil
	case ast.ShowEngines:
		return result.RowsResult(result.TextColumns("Engine", "Support", "Comment", "Transactions", "XA", "Savepoints"), infoschema.EngineRows()), nil
	case ast.ShowCharset:
		cols := result.TextColumns("Charset", "Description", "Default collation", "Maxlen")
		cols[3].Type = types.Int64
		var rows [][]types.Value
		for _, c := range infoschema.Charsets {
			rows = append(rows, []types.Value{result.Text(c.Name), result.Text(c.Description), result.Text(c.Collation), types.IntValue(c.Width)})
		}
		return showLike(st, n, cols, rows)
	case ast.ShowCollation:
		cols := result.TextColumns("Collation", "Charset", "Id", "Default", "Compiled", "Sortlen", "Pad_attribute")
		cols[2].Type, cols[5].Type = types.Int64, types.Int64
		return showLike(st, n, cols, infoschema.CollationRows())
	case ast.ShowTableStatus:
		return showTableStatus(st, n, snap)
	case ast.ShowStatus:
		return showLike(st, n, result.TextColumns("Variable_name", "Value"), statusRows(s, snap))
	case ast.ShowProcessList:
		return result.RowsResult(processColumns, infoschema.ProcessRows(s.InfoSource(), n.Full)), nil
	case ast.ShowGrants:
		return result.RowsResult(result.TextColumns("Grants for root@localhost"), [][]types.Value{{result.Text("GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION")}}), nil
	case ast.ShowPrivileges:
		return result.RowsResult(result.TextColumns("Privilege", "Context", "Comment"), nil), nil
	case ast.ShowTriggers:
		return result.RowsResult(result.TextColumns("Trigger", "Event", "Table", "Statement", "Timing", "Created", "sql_mode", "Definer", "character_set_client", "collation_connection", "Database Collation"), nil), nil
	case ast.ShowEvents:
		return result.RowsResult(result.TextColumns("Db", "Name", "Definer", "Time zone", "Type", "Execute at", "Status"), nil), nil
	case ast.ShowProcedureStatus, ast.ShowFunctionStatus:
		return result.RowsResult(result.TextColumns("Db", "Name", "Type", "Definer", "Modified", "Created", "Security_type", "Comment"), nil), nil
	case ast.ShowPlugins:
		return result.RowsResult(result.TextColumns("Name", "Status", "Type", "Library", "License"), nil), nil
	case ast.ShowOpenTables:
		return result.RowsResult(result.TextColumns("Database", "Table", "In_use", "Name_locked"), nil), nil
	}
	return nil, sqlerr.NotSupportedf("this SHOW",
		"%s; docs/reference/statements.md lists those that there are", session.FirstWords(st.Text))
}

// pattern returns a test of names for a SHOW's LIKE.
func pattern(st *session.Statement, n *ast.ShowStmt) (func(string) (bool, error), error) {
	if n.Pattern == nil {
		return func(string) (bool, error) { return true, nil }, nil
	}
	return func(name string) (bool, error) {
		v, err := st.Binder().Like(strings.ToLower(name), n.Pattern)
		if err != nil {
			return false, err
		}
		return v, nil
	}, nil
}

// showLike gives the rows whose first column, a string, matches the LIKE of a SHOW.
func showLike(st *session.Statement, n *ast.ShowStmt, cols []result.ResultColumn, rows [][]types.Value) (*result.Result, error) {
	matches, err := pattern(st, n)
	if err != nil {
		return nil, err
	}
	var out [][]types.Value
	for _, row := range rows {
		ok, err := matches(row[0].S)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, row)
		}
	}
	return result.RowsResult(cols, out), nil
}

func showTableStatus(st *session.Statement, n *ast.ShowStmt, snap *catalog.Snapshot) (*result.Result, error) {
	s := st.Session
	db := n.DBName
	if db == "" {
		db = s.Database
	}
	name, err := snap.DatabaseName(db)
	if err != nil {
		return nil, err
	}
	var cols []result.ResultColumn
	for _, def := range infoschema.Columns("tables")[2:] {
		if def.Name == "TABLE_TYPE" {
			continue
		}
		title := strings.TrimPrefix(def.Name, "TABLE_")
		cols = append(cols, result.ResultColumn{Name: title[:1] + strings.ToLower(title[1:]), Type: def.Type, Nullable: true})
	}
	return showLike(st, n, cols, infoschema.TableStatus(snap, name))
}

// statusRows are the status variables that there are.
func statusRows(s *session.Session, snap *catalog.Snapshot) [][]types.Value {
	tables := 0
	infoschema.EachTable(snap, func(string, *table.Version) { tables++ })
	list := s.DB.Sessions.List()
	running := 0
	for _, other := range list {
		if other.Process().Text != "" {
			running++
		}
	}
	row := func(name string, value int64) []types.Value {
		return []types.Value{result.Text(name), result.Text(strconv.FormatInt(value, 10))}
	}
	return [][]types.Value{
		row("Connections", int64(s.DB.Sessions.Begun.Load())), row("Max_used_connections", int64(len(list))), row("Open_tables", int64(tables)),
		row("Questions", s.DB.Status.Questions.Load()), row("Threads_connected", int64(len(list))), row("Threads_running", int64(running)),
		row("Uptime", int64(time.Since(s.DB.Status.Began).Seconds())),
	}
}

func showNames(st *session.Statement, n *ast.ShowStmt, heading string, names []string) (*result.Result, error) {
	matches, err := pattern(st, n)
	if err != nil {
		return nil, err
	}
	var rows [][]types.Value
	for _, name := range names {
		ok, err := matches(name)
		if err != nil {
			return nil, err
		}
		if ok {
			rows = append(rows, []types.Value{result.Text(name)})
		}
	}
	return result.RowsResult([]result.ResultColumn{{Name: heading, Type: types.Text}}, rows), nil
}

func showTables(st *session.Statement, n *ast.ShowStmt, snap *catalog.Snapshot) (*result.Result, error) {
	s := st.Session
	db := n.DBName
	if db == "" {
		db = s.Database
	}
	if strings.EqualFold(db, infoschema.Name) {
		return showNames(st, n, "Tables_in_"+infoschema.Name, infoschema.Names())
	}
	name, err := snap.DatabaseName(db)
	if err != nil {
		return nil, err
	}
	matches, err := pattern(st, n)
	if err != nil {
		return nil, err
	}
	cols := []result.ResultColumn{{Name: "Tables_in_" + name, Type: types.Text}}
	if n.Full {
		cols = append(cols, result.ResultColumn{Name: "Table_type", Type: types.Text})
	}
	var rows [][]types.Value
	add := func(names []string, kind string) error {
		for _, t := range names {
			ok, err := matches(t)
			if err != nil {
				return err
			}
			if ok {
				rows = append(rows, []types.Value{result.Text(t), result.Text(kind)}[:len(cols)])
			}
		}
		return nil
	}
	if err := add(snap.Tables(name), "BASE TABLE"); err != nil {
		return nil, err
	}
	if err := add(snap.Views(name), "VIEW"); err != nil {
		return nil, err
	}
	return result.RowsResult(cols, rows), nil
}

func showColumns(st *session.Statement, n *ast.ShowStmt, snap *catalog.Snapshot) (*result.Result, error) {
	schema, err := schemaOf(st, n, snap)
	if err != nil {
		return nil, err
	}
	matches, err := pattern(st, n)
	if err != nil {
		return nil, err
	}
	var rows [][]types.Value
	u := st.DescribedBy(schema)
	for i := range schema.Columns {
		name := schema.Columns[i].Name
		if n.Column != nil && !strings.EqualFold(n.Column.Name.O, name) {
			continue
		}
		ok, err := matches(name)
		if err != nil {
			return nil, err
		}
		if ok {
			if u != nil {
				st.NoteStrings(u, []int{i})
			}
			row := infoschema.DescribeColumn(schema, i)
			if n.Full {
				collation := types.NullOf(types.Text)
				if t := schema.Columns[i].Type; t.HasCollation() || t.Kind == types.KindJSON {
					collation = result.Text(t.Collation.String())
				}
				row = append(append([]types.Value{row[0], row[1], collation}, row[2:]...),
					result.Text("select,insert,update"), result.Text(schema.Columns[i].Comment))
			}
			rows = append(rows, row)
		}
	}
	if n.Full {
		return result.RowsResult(result.TextColumns("Field", "Type", "Collation", "Null", "Key", "Default", "Extra", "Privileges", "Comment"), rows), nil
	}
	return result.RowsResult(result.TextColumns("Field", "Type", "Null", "Key", "Default", "Extra"), rows), nil
}

// schemaOf returns the definition of the table, view or file of a SHOW; a view's is made from its query.
func schemaOf(st *session.Statement, n *ast.ShowStmt, snap *catalog.Snapshot) (*table.Schema, error) {
	s := st.Session
	t := *n.Table
	if n.DBName != "" && t.Schema.O == "" {
		t.Schema = ast.NewCIStr(n.DBName)
	}
	if t.Schema.O == "" {
		if v, ok, err := st.CatalogView().File(t.Name.O); err != nil {
			return nil, err
		} else if ok {
			return v.Schema, nil
		}
	}
	db, name, err := s.Find(&t)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(db, infoschema.Name) {
		v, err := infoschema.Table(s.InfoSource(), snap, name)
		if err != nil {
			return nil, err
		}
		return v.Schema, nil
	}
	v, _, err := snap.Lookup(db, name)
	if err != nil {
		return nil, err
	}
	if v != nil {
		return v.Schema, nil
	}
	return s.ViewSchema(st, snap, db, name)
}

// showCreate runs SHOW CREATE TABLE and SHOW CREATE VIEW.
func showCreate(s *session.Session, n *ast.ShowStmt, snap *catalog.Snapshot) (*result.Result, error) {
	db, name, err := s.Find(n.Table)
	if err != nil {
		return nil, err
	}
	v, view, err := snap.Lookup(db, name)
	if err != nil {
		return nil, err
	}
	if view != nil {
		return result.RowsResult(result.TextColumns("View", "Create View", "character_set_client", "collation_connection"),
			[][]types.Value{{result.Text(view.Name), result.Text(definition.CreateViewSQL(view)), result.Text("utf8mb4"), result.Text(view.Collation.String())}}), nil
	}
	if n.Tp == ast.ShowCreateView {
		return nil, sqlerr.New(sqlerr.CodeWrongObject, sqlerr.User, "'%s.%s' is not VIEW", db, name)
	}
	return result.RowsResult(result.TextColumns("Table", "Create Table"), [][]types.Value{{result.Text(v.Schema.Name), result.Text(definition.CreateTableSQL(v))}}), nil
}

func showIndex(s *session.Session, n *ast.ShowStmt, snap *catalog.Snapshot) (*result.Result, error) {
	db, name, err := s.Find(n.Table)
	if err != nil {
		return nil, err
	}
	v, err := snap.Table(db, name)
	if err != nil {
		return nil, err
	}
	var rows [][]types.Value
	for _, k := range v.Schema.Keys {
		for i := range k.Columns {
			rows = append(rows, infoschema.IndexRow(v, &k, i))
		}
	}
	cols := result.TextColumns("Table", "Non_unique", "Key_name", "Seq_in_index", "Column_name", "Collation", "Cardinality", "Sub_part", "Packed", "Null", "Index_type",
		"Comment", "Index_comment", "Visible", "Expression")
	for _, i := range []int{1, 3, 6, 7} {
		cols[i].Type = types.Int64
	}
	return result.RowsResult(cols, rows), nil
}

func showVariables(st *session.Statement, n *ast.ShowStmt) (*result.Result, error) {
	s := st.Session
	matches, err := pattern(st, n)
	if err != nil {
		return nil, err
	}
	var rows [][]types.Value
	for i := range variables.All {
		def := &variables.All[i]
		ok, err := matches(def.Name)
		if err != nil {
			return nil, err
		}
		if ok {
			rows = append(rows, []types.Value{result.Text(def.Name), result.Text(s.Vars.Shown(def))})
		}
	}
	return result.RowsResult(result.TextColumns("Variable_name", "Value"), rows), nil
}

func showWarnings(s *session.Session, n *ast.ShowStmt) *result.Result {
	var rows [][]types.Value
	for _, w := range s.Warnings.List() {
		if n.Tp == ast.ShowErrors && w.Level != sqlerr.LevelError {
			continue
		}
		rows = append(rows, []types.Value{result.Text(w.Level.String()), types.IntValue(int64(w.Code)), result.Text(w.Message)})
	}
	if n.CountWarningsOrErrors {
		what := "warning"
		if n.Tp == ast.ShowErrors {
			what = "error"
		}
		return result.RowsResult([]result.ResultColumn{{Name: "@@session." + what + "_count", Type: types.Int64}},
			[][]types.Value{{types.IntValue(int64(len(rows)))}})
	}
	cols := result.TextColumns("Level", "Code", "Message")
	cols[1].Type = types.Int64
	return result.RowsResult(cols, rows)
}

// Analyze runs ANALYZE TABLE, which has nothing to do: statistics are made when a plan asks for them. As in MySQL, tables that are
// not there are told of in the rows.
func Analyze(s *session.Session, n *ast.AnalyzeTableStmt) (*result.Result, error) {
	snap := s.Snapshot()
	var rows [][]types.Value
	for _, t := range n.TableNames {
		db, name, err := s.Qualify(t)
		if err != nil {
			return nil, err
		}
		message := func(kind, words string) {
			rows = append(rows, []types.Value{result.Text(db + "." + name), result.Text("analyze"), result.Text(kind), result.Text(words)})
		}
		where := db
		if hidden := s.Shadowing(db, name); hidden != "" {
			where = hidden
		}
		if _, err := snap.Table(where, name); err != nil {
			message("Error", sqlerr.From(err).Message)
			message("status", "Operation failed")
			continue
		}
		message("status", "OK")
	}
	return result.RowsResult(result.TextColumns("Table", "Op", "Msg_type", "Msg_text"), rows), nil
}

var processColumns = []result.ResultColumn{
	{Name: "Id", Type: types.Uint64}, {Name: "User", Type: types.Text}, {Name: "Host", Type: types.Text}, {Name: "db", Type: types.Text, Nullable: true},
	{Name: "Command", Type: types.Text}, {Name: "Time", Type: types.Int64}, {Name: "State", Type: types.Text, Nullable: true}, {Name: "Info", Type: types.Text, Nullable: true},
}
