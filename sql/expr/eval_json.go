package expr

import (
	"encoding/json"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/jsondoc"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// toJSON converts the live positions of v to JSON: text has to be a JSON document, and stays as it is written; numbers
// are documents; what else there is becomes a JSON string, NaN and the infinities too.
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
		case n.from.IsNumeric() && !(n.from.IsFloat() && !types.IsFinite(v.Value(int(i)).F)):
			text = v.Value(int(i)).Text()
		default:
			quoted, err := json.Marshal(v.Value(int(i)).Text())
			if err != nil {
				return sqlerr.Bug("a value of type %s does not become JSON: %v", n.from, err)
			}
			text = string(quoted)
		}
		n.out.Str[i] = text
	}
	return nil
}

// isJSONCast says whether a cast has to look at the text.
func isJSONCast(from, to types.Type) bool {
	return to.Kind == types.KindJSON && from.Kind != types.KindJSON
}
