package engine

import (
	"strconv"
	"strings"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/definition"
	"github.com/radish-sql/radish/engine/infoschema"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// show runs SHOW and DESCRIBE. WHERE is a condition over the columns that SHOW gives.
func (s *Session) show(st *statement, n *ast.ShowStmt) (*Result, error) {
	res, err := s.showAll(st, n)
	if err != nil || n.Where == nil {
		return res, err
	}
	schema := &table.Schema{Name: "SHOW"}
	for _, c := range res.Columns {
		schema.Columns = append(schema.Columns, table.ColumnDef{Name: c.Name, Type: c.Type, Nullable: true})
	}
	v := table.New(schema)
	for {
		b, err := res.Next(st.ctx)
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
	q, err := st.binder().Filter(v, n.Where)
	if err != nil {
		return nil, err
	}
	return s.runQuery(st, q, false)
}

// showAll runs SHOW without its WHERE.
func (s *Session) showAll(st *statement, n *ast.ShowStmt) (*Result, error) {
	snap := s.snapshot()
	switch n.Tp {
	case ast.ShowDatabases:
		names := append(snap.Databases(), infoschema.Name)
		return s.showNames(st, n, "Database", names)
	case ast.ShowTables:
		return s.showTables(st, n, snap)
	case ast.ShowColumns:
		return s.showColumns(st, n, snap)
	case ast.ShowCreateTable, ast.ShowCreateView:
		return s.showCreate(n, snap)
	case ast.ShowCreateDatabase:
		name, err := snap.DatabaseName(n.DBName)
		if err != nil {
			return nil, err
		}
		create := "CREATE DATABASE " + definition.QuoteName(name)
		if c, ok := snap.Collation(name); ok {
			create += " COLLATE " + c.String()
		}
		row := []types.Value{text(name), text(create)}
		return rowsResult(textColumns("Database", "Create Database"), [][]types.Value{row}), nil
	case ast.ShowIndex:
		return s.showIndex(n, snap)
	case ast.ShowVariables:
		return s.showVariables(st, n)
	case ast.ShowWarnings, ast.ShowErrors:
		return s.showWarnings(n), nil
	case ast.ShowEngines:
		return rowsResult(textColumns("Engine", "Support", "Comment", "Transactions", "XA", "Savepoints"), infoschema.EngineRows()), nil
	case ast.ShowCharset:
		cols := textColumns("Charset", "Description", "Default collation", "Maxlen")
		cols[3].Type = types.Int64
		var rows [][]types.Value
		for _, c := range infoschema.Charsets {
			rows = append(rows, []types.Value{text(c.Name), text(c.Description), text(c.Collation), types.IntValue(c.Width)})
		}
		return s.showLike(st, n, cols, rows)
	case ast.ShowCollation:
		cols := textColumns("Collation", "Charset", "Id", "Default", "Compiled", "Sortlen", "Pad_attribute")
		cols[2].Type, cols[5].Type = types.Int64, types.Int64
		return s.showLike(st, n, cols, infoschema.CollationRows())
	case ast.ShowTableStatus:
		return s.showTableStatus(st, n, snap)
	case ast.ShowStatus:
		return s.showLike(st, n, textColumns("Variable_name", "Value"), s.statusRows(snap))
	case ast.ShowProcessList:
		return rowsResult(processColumns, infoschema.ProcessRows(infoSource{s}, n.Full)), nil
	case ast.ShowGrants:
		return rowsResult(textColumns("Grants for root@localhost"), [][]types.Value{{text("GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION")}}), nil
	case ast.ShowPrivileges:
		return rowsResult(textColumns("Privilege", "Context", "Comment"), nil), nil
	case ast.ShowTriggers:
		return rowsResult(textColumns("Trigger", "Event", "Table", "Statement", "Timing", "Created", "sql_mode", "Definer", "character_set_client", "collation_connection", "Database Collation"), nil), nil
	case ast.ShowEvents:
		return rowsResult(textColumns("Db", "Name", "Definer", "Time zone", "Type", "Execute at", "Status"), nil), nil
	case ast.ShowProcedureStatus, ast.ShowFunctionStatus:
		return rowsResult(textColumns("Db", "Name", "Type", "Definer", "Modified", "Created", "Security_type", "Comment"), nil), nil
	case ast.ShowPlugins:
		return rowsResult(textColumns("Name", "Status", "Type", "Library", "License"), nil), nil
	case ast.ShowOpenTables:
		return rowsResult(textColumns("Database", "Table", "In_use", "Name_locked"), nil), nil
	}
	return nil, sqlerr.NotSupportedf("this SHOW",
		"%s; docs/reference/statements.md lists those that there are", firstWords(st.Text))
}

// pattern returns a test of names for a SHOW's LIKE.
func (s *Session) pattern(st *statement, n *ast.ShowStmt) (func(string) (bool, error), error) {
	if n.Pattern == nil {
		return func(string) (bool, error) { return true, nil }, nil
	}
	return func(name string) (bool, error) {
		v, err := st.binder().Like(strings.ToLower(name), n.Pattern)
		if err != nil {
			return false, err
		}
		return v, nil
	}, nil
}

// showLike gives the rows whose first column, a string, matches the LIKE of a SHOW.
func (s *Session) showLike(st *statement, n *ast.ShowStmt, cols []ResultColumn, rows [][]types.Value) (*Result, error) {
	matches, err := s.pattern(st, n)
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
	return rowsResult(cols, out), nil
}

func (s *Session) showTableStatus(st *statement, n *ast.ShowStmt, snap *catalog.Snapshot) (*Result, error) {
	db := n.DBName
	if db == "" {
		db = s.database
	}
	name, err := snap.DatabaseName(db)
	if err != nil {
		return nil, err
	}
	var cols []ResultColumn
	for _, def := range infoschema.Columns("tables")[2:] {
		if def.Name == "TABLE_TYPE" {
			continue
		}
		title := strings.TrimPrefix(def.Name, "TABLE_")
		cols = append(cols, ResultColumn{Name: title[:1] + strings.ToLower(title[1:]), Type: def.Type, Nullable: true})
	}
	return s.showLike(st, n, cols, infoschema.TableStatus(snap, name))
}

// statusRows are the status variables that there are.
func (s *Session) statusRows(snap *catalog.Snapshot) [][]types.Value {
	tables := 0
	infoschema.EachTable(snap, func(string, *table.Version) { tables++ })
	list := s.engine.sessions.list()
	running := 0
	for _, other := range list {
		other.activity.mu.Lock()
		if other.activity.text != "" {
			running++
		}
		other.activity.mu.Unlock()
	}
	row := func(name string, value int64) []types.Value {
		return []types.Value{text(name), text(strconv.FormatInt(value, 10))}
	}
	return [][]types.Value{
		row("Connections", int64(s.engine.sessions.begun.Load())), row("Max_used_connections", int64(len(list))), row("Open_tables", int64(tables)),
		row("Questions", s.engine.status.questions.Load()), row("Threads_connected", int64(len(list))), row("Threads_running", int64(running)),
		row("Uptime", int64(time.Since(s.engine.status.began).Seconds())),
	}
}

func (s *Session) showNames(st *statement, n *ast.ShowStmt, heading string, names []string) (*Result, error) {
	matches, err := s.pattern(st, n)
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
			rows = append(rows, []types.Value{text(name)})
		}
	}
	return rowsResult([]ResultColumn{{Name: heading, Type: types.Text}}, rows), nil
}

func (s *Session) showTables(st *statement, n *ast.ShowStmt, snap *catalog.Snapshot) (*Result, error) {
	db := n.DBName
	if db == "" {
		db = s.database
	}
	if strings.EqualFold(db, infoschema.Name) {
		return s.showNames(st, n, "Tables_in_"+infoschema.Name, infoschema.Names())
	}
	name, err := snap.DatabaseName(db)
	if err != nil {
		return nil, err
	}
	matches, err := s.pattern(st, n)
	if err != nil {
		return nil, err
	}
	cols := []ResultColumn{{Name: "Tables_in_" + name, Type: types.Text}}
	if n.Full {
		cols = append(cols, ResultColumn{Name: "Table_type", Type: types.Text})
	}
	var rows [][]types.Value
	add := func(names []string, kind string) error {
		for _, t := range names {
			ok, err := matches(t)
			if err != nil {
				return err
			}
			if ok {
				rows = append(rows, []types.Value{text(t), text(kind)}[:len(cols)])
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
	return rowsResult(cols, rows), nil
}

func (s *Session) showColumns(st *statement, n *ast.ShowStmt, snap *catalog.Snapshot) (*Result, error) {
	schema, err := s.schemaOf(st, n, snap)
	if err != nil {
		return nil, err
	}
	matches, err := s.pattern(st, n)
	if err != nil {
		return nil, err
	}
	var rows [][]types.Value
	u := st.describedBy(schema)
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
				st.noteStrings(u, []int{i})
			}
			row := infoschema.DescribeColumn(schema, i)
			if n.Full {
				collation := types.NullOf(types.Text)
				if t := schema.Columns[i].Type; t.HasCollation() || t.Kind == types.KindJSON {
					collation = text(t.Collation.String())
				}
				row = append(append([]types.Value{row[0], row[1], collation}, row[2:]...),
					text("select,insert,update"), text(schema.Columns[i].Comment))
			}
			rows = append(rows, row)
		}
	}
	if n.Full {
		return rowsResult(textColumns("Field", "Type", "Collation", "Null", "Key", "Default", "Extra", "Privileges", "Comment"), rows), nil
	}
	return rowsResult(textColumns("Field", "Type", "Null", "Key", "Default", "Extra"), rows), nil
}

// schemaOf returns the definition of the table, view or file of a SHOW; a view's is made from its query.
func (s *Session) schemaOf(st *statement, n *ast.ShowStmt, snap *catalog.Snapshot) (*table.Schema, error) {
	t := *n.Table
	if n.DBName != "" && t.Schema.O == "" {
		t.Schema = ast.NewCIStr(n.DBName)
	}
	if t.Schema.O == "" {
		if v, ok, err := st.catalogView().File(t.Name.O); err != nil {
			return nil, err
		} else if ok {
			return v.Schema, nil
		}
	}
	db, name, err := s.find(&t)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(db, infoschema.Name) {
		v, err := infoschema.Table(infoSource{s}, snap, name)
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
	return s.viewSchema(st, snap, db, name)
}

// showCreate runs SHOW CREATE TABLE and SHOW CREATE VIEW.
func (s *Session) showCreate(n *ast.ShowStmt, snap *catalog.Snapshot) (*Result, error) {
	db, name, err := s.find(n.Table)
	if err != nil {
		return nil, err
	}
	v, view, err := snap.Lookup(db, name)
	if err != nil {
		return nil, err
	}
	if view != nil {
		return rowsResult(textColumns("View", "Create View", "character_set_client", "collation_connection"),
			[][]types.Value{{text(view.Name), text(definition.CreateViewSQL(view)), text("utf8mb4"), text(view.Collation.String())}}), nil
	}
	if n.Tp == ast.ShowCreateView {
		return nil, sqlerr.New(sqlerr.CodeWrongObject, sqlerr.User, "'%s.%s' is not VIEW", db, name)
	}
	return rowsResult(textColumns("Table", "Create Table"), [][]types.Value{{text(v.Schema.Name), text(definition.CreateTableSQL(v))}}), nil
}

// viewSchema makes a definition of a view from its query.
func (s *Session) viewSchema(st *statement, snap *catalog.Snapshot, db, name string) (*table.Schema, error) {
	view, err := snap.View(db, name)
	if err != nil {
		return nil, err
	}
	bound, _ := st.catalogView().View(db, name)
	if bound.Err != nil {
		return nil, bound.Err
	}
	b := st.binder()
	b.Locate, b.Database = nil, view.Database
	q, err := b.Query(bound.Select)
	if err != nil {
		return nil, bind.InView(view.Database, view.Name, err)
	}
	schema := &table.Schema{Database: view.Database, Name: view.Name}
	for i, c := range q.Cols {
		schema.Columns = append(schema.Columns, table.ColumnDef{Name: view.Columns[i], Type: c.Typ, Nullable: c.Null})
	}
	return schema, nil
}

func (s *Session) showIndex(n *ast.ShowStmt, snap *catalog.Snapshot) (*Result, error) {
	db, name, err := s.find(n.Table)
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
	cols := textColumns("Table", "Non_unique", "Key_name", "Seq_in_index", "Column_name", "Collation", "Cardinality", "Sub_part", "Packed", "Null", "Index_type",
		"Comment", "Index_comment", "Visible", "Expression")
	for _, i := range []int{1, 3, 6, 7} {
		cols[i].Type = types.Int64
	}
	return rowsResult(cols, rows), nil
}

func (s *Session) showVariables(st *statement, n *ast.ShowStmt) (*Result, error) {
	matches, err := s.pattern(st, n)
	if err != nil {
		return nil, err
	}
	var rows [][]types.Value
	for i := range systemVariables {
		def := &systemVariables[i]
		ok, err := matches(def.name)
		if err != nil {
			return nil, err
		}
		if ok {
			rows = append(rows, []types.Value{text(def.name), text(s.vars.shown(def))})
		}
	}
	return rowsResult(textColumns("Variable_name", "Value"), rows), nil
}

func (s *Session) showWarnings(n *ast.ShowStmt) *Result {
	var rows [][]types.Value
	for _, w := range s.warnings.List() {
		if n.Tp == ast.ShowErrors && w.Level != sqlerr.LevelError {
			continue
		}
		rows = append(rows, []types.Value{text(w.Level.String()), types.IntValue(int64(w.Code)), text(w.Message)})
	}
	if n.CountWarningsOrErrors {
		what := "warning"
		if n.Tp == ast.ShowErrors {
			what = "error"
		}
		return rowsResult([]ResultColumn{{Name: "@@session." + what + "_count", Type: types.Int64}},
			[][]types.Value{{types.IntValue(int64(len(rows)))}})
	}
	cols := textColumns("Level", "Code", "Message")
	cols[1].Type = types.Int64
	return rowsResult(cols, rows)
}

// analyze runs ANALYZE TABLE, which has nothing to do: statistics are made when a plan asks for them. As in MySQL, tables that are
// not there are told of in the rows.
func (s *Session) analyze(n *ast.AnalyzeTableStmt) (*Result, error) {
	snap := s.snapshot()
	var rows [][]types.Value
	for _, t := range n.TableNames {
		db, name, err := s.qualify(t)
		if err != nil {
			return nil, err
		}
		message := func(kind, words string) {
			rows = append(rows, []types.Value{text(db + "." + name), text("analyze"), text(kind), text(words)})
		}
		where := db
		if hidden := s.shadowing(db, name); hidden != "" {
			where = hidden
		}
		if _, err := snap.Table(where, name); err != nil {
			message("Error", sqlerr.From(err).Message)
			message("status", "Operation failed")
			continue
		}
		message("status", "OK")
	}
	return rowsResult(textColumns("Table", "Op", "Msg_type", "Msg_text"), rows), nil
}
