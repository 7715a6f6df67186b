package parse_test

import (
	"testing"

	"github.com/pingcap/tidb/pkg/parser/format"

	"github.com/radish-sql/radish/sql/parse"
)

// What Restore writes of JSON_VALUE is read as the same, and positions behind it are those of the text.
func TestJSONValue(t *testing.T) {
	for _, sql := range []string{
		"SELECT JSON_VALUE(`d`, '$.a' RETURNING DECIMAL(4, 2) DEFAULT -3.5 ON EMPTY ERROR ON ERROR)",
		"SELECT JSON_VALUE(JSON_VALUE(`d`, '$' RETURNING JSON ERROR ON ERROR), '$.a' RETURNING UNSIGNED) FROM `t`",
		"SELECT JSON_VALUE(`error`, `null`.`default`) FROM `t`",
		"SELECT JSON_VALUE(CONCAT(`a`, 'RETURNING'), '$' RETURNING CHAR(3) ERROR ON EMPTY),1 FROM (SELECT '{}' AS `a`) AS `x`",
	} {
		stmt, err := parse.One(sql, parse.DefaultMode)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		for range 2 { // the tree stays as it is
			if got, err := parse.Restore(stmt.Node, format.RestoreStringWithoutCharset); err != nil || got != sql {
				t.Errorf("%s is written as %s, %v", sql, got, err)
			}
		}
	}
}
