package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/jsondoc"
	"github.com/radish-sql/radish/sql/jsontable"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// MySQL's ER_TF_MUST_HAVE_ALIAS and ER_INVALID_TYPE_FOR_JSON.
const (
	codeTableFunctionAlias sqlerr.Code = 3667
	codeDocumentType       sqlerr.Code = 3146
)

// jsonTable binds JSON_TABLE, whose document sees the columns of around: the tables on its left, and the queries around it.
func (b *Binder) jsonTable(call *parse.JSONTable, alias string, around *scope) (logical.Node, []scopeColumn, error) {
	doc, err := b.expr(call.Doc, &scope{parent: around, clause: "a table function argument", noAggregates: true})
	if err != nil {
		return nil, nil, err
	}
	switch t := doc.Type(); {
	case t.Kind == types.KindNull:
		doc = &expr.Const{Value: types.NullOf(types.JSON)}
	case !t.IsString():
		return nil, nil, b.at(sqlerr.New(codeDocumentType, sqlerr.User, "Invalid data type for JSON data in argument 1 to function json_table; a JSON string or JSON type is required."), call.Doc)
	}
	t := &jsontable.Table{Name: alias}
	if t.Rows, err = b.jsonLevel(t, call.Path, call.Columns); err != nil {
		return nil, nil, err
	}
	node := &logical.Unnest{Input: logical.OneRow(), Doc: doc, Table: t}
	cols := make([]scopeColumn, len(t.Columns))
	for i := range t.Columns {
		c := &t.Columns[i]
		for _, other := range t.Columns[:i] {
			if strings.EqualFold(other.Name, c.Name) {
				return nil, nil, sqlerr.DupFieldName(c.Name)
			}
		}
		col := b.alloc.New(alias, c.Name, c.Type, true)
		node.Cols, node.Ordinals = append(node.Cols, col), append(node.Ordinals, i)
		cols[i] = scopeColumn{col: col, table: alias, name: c.Name}
	}
	return node, cols, nil
}

// jsonLevel binds a COLUMNS clause and adds its columns to t.
func (b *Binder) jsonLevel(t *jsontable.Table, path ast.ExprNode, columns []parse.JSONColumn) (l jsontable.Level, err error) {
	if l.Path, l.Written, err = b.jsonPath(path); err != nil {
		return l, err
	}
	l.From = len(t.Columns)
	for i := range columns {
		if columns[i].Kind == parse.JSONNested {
			nested, err := b.jsonLevel(t, columns[i].Path, columns[i].Nested)
			if err != nil {
				return l, err
			}
			l.Nested = append(l.Nested, nested)
			continue
		}
		c, err := b.jsonColumn(&columns[i])
		if err != nil {
			return l, err
		}
		l.Own = append(l.Own, len(t.Columns))
		t.Columns = append(t.Columns, c)
	}
	l.To = len(t.Columns)
	return l, nil
}

func (b *Binder) jsonPath(n ast.ExprNode) (jsondoc.Path, string, error) {
	v, err := b.paramOrLiteral(n)
	if err != nil {
		return nil, "", err
	}
	text := strings.Clone(v.Text())
	p, err := jsondoc.ParsePath(text)
	return p, text, b.at(err, n)
}

func (b *Binder) jsonColumn(def *parse.JSONColumn) (c jsontable.Column, err error) {
	c.Name = strings.Clone(def.Name)
	if def.Kind == parse.JSONOrdinality {
		c.Kind, c.Type = jsontable.Ordinality, types.Uint32
		return c, nil
	}
	if c.Path, c.Written, err = b.jsonPath(def.Path); err != nil {
		return c, err
	}
	if c.Type, err = ColumnType(def.Type); err != nil {
		return c, b.at(err, def.Path)
	}
	collation := b.connection()
	if name := def.Type.GetCollate(); name != "" && c.Type.HasCollation() {
		if collation, err = expr.ParseCollation(name); err != nil {
			return c, b.at(err, def.Path)
		}
	}
	c.Type = c.Type.Collate(collation)
	if def.Kind == parse.JSONExists {
		c.Kind = jsontable.Exists
		if c.Missing, err = b.jsonConstant(&c, "0"); err == nil {
			c.Found, err = b.jsonConstant(&c, "1")
		}
		if err != nil {
			err = b.at(sqlerr.NotSupportedf("an EXISTS column of type "+c.Type.String(), "give it an integer type"), def.Path)
		}
		return c, err
	}
	if c.Empty, err = b.jsonResponse(&c, def.Empty); err == nil {
		c.Error, err = b.jsonResponse(&c, def.Error)
	}
	return c, err
}

func (b *Binder) jsonResponse(c *jsontable.Column, def parse.JSONResponse) (r jsontable.Response, err error) {
	r.Fails, r.Default = def.Fails, types.NullOf(c.Type)
	if def.Default == nil {
		return r, nil
	}
	v, err := b.Scalar(def.Default)
	if err != nil {
		return r, err
	}
	if b.Ctx != nil {
		v = expr.Fold(v, b.Ctx) // the sign of a number
	}
	text, ok := v.(*expr.Const)
	if !ok {
		return r, b.at(sqlerr.InvalidDefault(c.Name), def.Default)
	}
	r.Written = strings.Clone(text.Value.Text())
	if r.Default, err = b.jsonConstant(c, r.Written); err != nil {
		return r, b.at(err, def.Default)
	}
	return r, nil
}

func (b *Binder) jsonConstant(c *jsontable.Column, text string) (types.Value, error) {
	var conversion types.ConvertContext
	if b.Ctx != nil {
		conversion = b.Ctx.Conversion()
	}
	return c.Constant(b.Ctx, conversion, text)
}
