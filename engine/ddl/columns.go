package ddl

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/radish-sql/radish/engine/definition"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// What a definition says of one column: its type, default, checks.

// generatedCheck begins the name of a check that is still to be named.
const generatedCheck = "\x00"

// checkName returns MySQL's name for a check without one.
func checkName(tableName string, taken func(string) bool) string {
	for i := 1; ; i++ {
		if name := tableName + catalog.GeneratedCheck + types.IntValue(int64(i)).Text(); !taken(name) {
			return name
		}
	}
}

// addCheck adds a CHECK constraint to a definition.
func addCheck(schema *table.Schema, name string, e ast.ExprNode, enforced bool) error {
	text, err := parse.Restore(e, format.RestoreStringWithoutCharset)
	if err != nil {
		return sqlerr.Bug("the text of a CHECK cannot be written: %v", err)
	}
	if name == "" {
		name = generatedCheck
	}
	schema.Checks = append(schema.Checks, table.Check{Name: name, SQL: text, NotEnforced: !enforced})
	return nil
}

// warnOfType says what of a column's type means nothing here: MySQL has deprecated it.
func warnOfType(st Statement, c *ast.ColumnDef) {
	switch t := c.Tp.GetType(); {
	case (t == mysql.TypeFloat || t == mysql.TypeDouble) && c.Tp.GetDecimal() >= 0:
		st.Expressions().Warnings.Add(sqlerr.LevelWarning, sqlerr.CodeDeprecated, "Specifying number of digits for floating point data types is deprecated: "+
			"column '%s' keeps numbers as they are; write DECIMAL(%d,%d) to have them rounded", c.Name.Name.O, c.Tp.GetFlen(), c.Tp.GetDecimal())
	case mysql.HasZerofillFlag(c.Tp.GetFlag()):
		st.Expressions().Warnings.Add(sqlerr.LevelWarning, sqlerr.CodeDeprecated, "ZEROFILL is deprecated: column '%s' is UNSIGNED and shown without zeros in front; use LPAD", c.Name.Name.O)
	}
}

// addColumn adds a column to a definition, with the keys and checks that stand in its own.
func addColumn(st Statement, schema *table.Schema, c *ast.ColumnDef) error {
	name := c.Name.Name.O
	typ, err := bind.ColumnType(c.Tp)
	if err != nil {
		e := sqlerr.From(err)
		return e.WithHint("column '%s'", name)
	}
	warnOfType(st, c)
	if typ, err = columnCollation(typ, c, schema.Collation); err != nil {
		return err
	}
	def := table.ColumnDef{Name: name, Type: typ, Nullable: true}
	ordinal := len(schema.Columns)
	var defaultExpr ast.ExprNode
	for _, o := range c.Options {
		switch o.Tp {
		case ast.ColumnOptionNotNull:
			def.Nullable = false
		case ast.ColumnOptionNull, ast.ColumnOptionCollate, ast.ColumnOptionColumnFormat, ast.ColumnOptionStorage:
		case ast.ColumnOptionPrimaryKey:
			def.Nullable = false
			if err := addKey(schema, table.Key{Name: "PRIMARY", Columns: []int{ordinal}, Primary: true, Unique: true}); err != nil {
				return err
			}
		case ast.ColumnOptionUniqKey:
			if err := addKey(schema, table.Key{Name: name, Columns: []int{ordinal}, Unique: true}); err != nil {
				return err
			}
		case ast.ColumnOptionDefaultValue:
			defaultExpr = o.Expr
		case ast.ColumnOptionComment:
			if v, ok := o.Expr.(ast.ValueExpr); ok {
				def.Comment = v.GetString()
			}
		case ast.ColumnOptionAutoIncrement:
			if !typ.IsInteger() || typ.Kind == types.KindYear {
				return sqlerr.New(sqlerr.CodeWrongFieldSpec, sqlerr.User, "Incorrect column specifier for column '%s'", name)
			}
			def.IsAutoIncrement, def.Nullable = true, false
		case ast.ColumnOptionGenerated:
			text, err := parse.Restore(o.Expr, format.RestoreStringWithoutCharset|format.RestoreWithoutSchemaName|format.RestoreWithoutTableName)
			if err != nil {
				return sqlerr.Bug("the text of a generated column cannot be written: %v", err)
			}
			def.Generated = &table.Generated{SQL: text, Stored: o.Stored}
		case ast.ColumnOptionCheck:
			if err := addCheck(schema, o.ConstraintName, o.Expr, o.Enforced); err != nil {
				return err
			}
		case ast.ColumnOptionReference:
			st.Expressions().Warnings.Add(sqlerr.LevelWarning, sqlerr.CodeNotSupported,
				"REFERENCES in the definition of column '%s' means nothing, as in MySQL; write FOREIGN KEY (%s) REFERENCES ...", name, definition.QuoteName(name))
		case ast.ColumnOptionOnUpdate:
			var err error
			if def.OnUpdate, err = onUpdateText(o.Expr, typ, name); err != nil {
				return err
			}
		default:
			return sqlerr.NotSupportedf("this column option", "column '%s'", name)
		}
	}
	if def.Generated != nil && (defaultExpr != nil || def.IsAutoIncrement || def.OnUpdate != "") {
		return sqlerr.New(sqlerr.CodeWrongUsage, sqlerr.User, "Incorrect usage of DEFAULT, AUTO_INCREMENT or ON UPDATE and generated column")
	}
	schema.Columns = append(schema.Columns, def)
	if defaultExpr != nil {
		return setDefault(st, &schema.Columns[ordinal], defaultExpr)
	}
	return nil
}

// onUpdateText returns the text of ON UPDATE CURRENT_TIMESTAMP, which has the digits behind the second that the column has.
func onUpdateText(e ast.ExprNode, typ types.Type, name string) (string, error) {
	call, is := e.(*ast.FuncCallExpr)
	digits := 0
	if is && len(call.Args) == 1 {
		if v, literal := call.Args[0].(ast.ValueExpr); literal {
			n, _ := v.GetValue().(int64)
			digits = int(n)
		}
	}
	if !is || typ.Kind != types.KindDatetime && typ.Kind != types.KindTimestamp || digits != int(typ.Scale) {
		return "", sqlerr.New(sqlerr.CodeInvalidOnUpdate, sqlerr.User, "Invalid ON UPDATE clause for '%s' column", name)
	}
	if digits == 0 {
		return "CURRENT_TIMESTAMP", nil
	}
	return "CURRENT_TIMESTAMP(" + types.IntValue(int64(digits)).Text() + ")", nil
}

// setDefault checks a default by converting it to the column's type. An expression that is not constant is kept as
// text and evaluated by each INSERT.
func setDefault(st Statement, def *table.ColumnDef, e ast.ExprNode) error {
	x, err := st.Binder().Scalar(e)
	if err != nil {
		return err
	}
	if expr.HasSubquery(x) {
		return sqlerr.New(sqlerr.CodeDefaultFunction, sqlerr.User, "Default value expression of column '%s' contains a disallowed function.", def.Name).
			WithHint("it must not have a subquery")
	}
	c, literal := x.(*expr.Const)
	if !literal {
		if _, isCall := parse.WithoutParentheses(e).(*ast.FuncCallExpr); isCall || e != parse.WithoutParentheses(e) {
			text, err := parse.Restore(e, 0)
			if err != nil {
				return sqlerr.InvalidDefault(def.Name)
			}
			if text == "CURRENT_TIMESTAMP()" {
				text = "CURRENT_TIMESTAMP" // as MySQL shows it
			}
			def.Default = &table.Default{Expr: text}
			return nil
		}
	}
	if literal && c.Value.Null {
		if !def.Nullable {
			return sqlerr.InvalidDefault(def.Name)
		}
		return nil
	}
	v, err := expr.Eval1(&expr.Cast{Arg: expr.BitsStored(x, def.Type), To: def.Type, Strict: true, Column: def.Name}, st.Expressions())
	if err != nil {
		return sqlerr.InvalidDefault(def.Name).WithCause(err)
	}
	def.Default = &table.Default{Value: v}
	return nil
}
