package plans

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"

	"github.com/radish-sql/radish/sql/expr"
)

// Repeats says whether what a query means follows from its text, its tables and what plans.Key has: it consists of nothing but what is known to be so.
func Repeats(n ast.StmtNode) bool {
	f := &repeatsFinder{}
	n.Accept(f)
	return !f.refused
}

// repeatsFinder looks for parts of a query that may mean something else when it comes again.
type repeatsFinder struct{ refused bool }

// Enter is part of ast.Visitor.
func (f *repeatsFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.SelectStmt:
		f.refused = f.refused || x.SelectIntoOpt != nil || x.LockInfo != nil && x.LockInfo.LockType != ast.SelectLockNone || x.SelectStmtOpts != nil && x.CalcFoundRows
	case *ast.WithClause:
		f.refused = f.refused || x.IsRecursive
	case *ast.FuncCallExpr:
		called := expr.Lookup(x.FnName.L)
		f.refused = f.refused || x.Schema.O != "" || x.FnName.L != "grouping" && (called == nil || !KeptFunctions[called.Name])
	case *ast.SetOprStmt, *ast.SetOprSelectList, *ast.CommonTableExpression, *ast.TableRefsClause, *ast.Join, *ast.OnCondition, *ast.TableSource, *ast.TableName,
		*ast.FieldList, *ast.SelectField, *ast.WildCardField, *ast.GroupByClause, *ast.HavingClause, *ast.OrderByClause, *ast.ByItem, *ast.PositionExpr, *ast.Limit,
		*ast.WindowSpec, *ast.PartitionByClause, *ast.FrameClause, *ast.FrameBound,
		*ast.ColumnName, *ast.ColumnNameExpr, *driver.ValueExpr, *driver.ParamMarkerExpr, *ast.ParenthesesExpr, *ast.UnaryOperationExpr, *ast.BinaryOperationExpr,
		*ast.BetweenExpr, *ast.PatternInExpr, *ast.PatternLikeOrIlikeExpr, *ast.PatternRegexpExpr, *ast.IsNullExpr, *ast.IsTruthExpr, *ast.RowExpr, *ast.CaseExpr,
		*ast.WhenClause, *ast.SubqueryExpr, *ast.ExistsSubqueryExpr, *ast.CompareSubqueryExpr, *ast.AggregateFuncExpr, *ast.WindowFuncExpr, *ast.FuncCastExpr,
		*ast.TimeUnitExpr, *ast.TrimDirectionExpr, *ast.SetCollationExpr:
	default:
		f.refused = true
	}
	return n, f.refused
}

// Leave is part of ast.Visitor.
func (f *repeatsFinder) Leave(n ast.Node) (ast.Node, bool) { return n, !f.refused }

// KeptFunctions give the same for the same operands under the same settings, on the same day.
var KeptFunctions = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(`
		add sub mul div intdiv mod neg xor bitand bitor bitxor bitnot shl shr bit_count like
		abs acos asin atan ceil conv cos cot crc32 degrees exp floor ln log log10 log2 pi pow radians round sign sin sqrt tan truncate
		coalesce greatest if ifnull interval isnull least nullif
		ascii bin bit_length char char_length concat concat_ws elt field find_in_set format hex insert instr left length locate lower lpad ltrim oct ord quote repeat
		replace reverse right rpad rtrim soundex space strcmp substring substring_index trim unhex upper regexp_instr regexp_like regexp_replace regexp_substr
		adddate addtime date date_add date_format date_sub datediff dateliteral dayname dayofmonth dayofweek dayofyear extract from_days hour last_day makedate maketime
		microsecond minute month monthname period_add period_diff quarter sec_to_time second str_to_date subdate subtime time time_format time_to_sec timediff
		timeliteral timestamp timestampadd timestampdiff timestampliteral to_days to_seconds week weekday weekofyear year yearweek
		json_contains json_extract json_length json_type json_unquote json_valid json_value md5 sha1 sha2`) {
		m[name] = true
	}
	return m
}()
