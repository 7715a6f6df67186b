package expr

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/jsondoc"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// toJSON converts the live positions of v to JSON. A string has to be a JSON document, and keeps its text except for the digits of numbers. Numbers are documents. Other values, NaN and the infinities too, become JSON strings.
func (n *castNode) toJSON(c *Context, v *column.Vector, live []int32) error {
	for _, i := range live {
		var text string
		switch {
		case n.from.IsString():
			text = v.StringAt(int(i))
			why, at, err := jsondoc.Problem(c, text)
			if err != nil {
				return err
			}
			if why != "" {
				return sqlerr.InvalidJSON(why, at, n.column)
			}
			if jsondoc.TooDeep(text) {
				return jsondoc.TooDeepError()
			}
			if text, err = jsondoc.AsJSON(c, text); err != nil {
				return err
			}
		case n.from.Kind == types.KindBool: // a column that is TINYINT(1) holds numbers
			text = v.Value(int(i)).Text()
		default:
			value := v.Value(int(i))
			value.Type = n.from
			made, err := jsondoc.Of(c, value, "cast_as_json", 1)
			if err != nil {
				return err
			}
			text = made.String()
		}
		n.out.Str[i] = text
	}
	return nil
}

// isJSONCast says whether a cast has to look at the text.
func isJSONCast(from, to types.Type) bool {
	return to.Kind == types.KindJSON && from.Kind != types.KindJSON
}
