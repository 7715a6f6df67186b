package information_test

import (
	"testing"

	"github.com/radish-sql/radish/sql/functions/exprtest"
	"github.com/radish-sql/radish/sql/functions/information"
)

// Reference Manual 14.15.
func TestInformationExamples(t *testing.T) {
	exprtest.RunExamples(t, information.Functions(), []exprtest.Example{
		{"charset", []any{"abc"}, "utf8mb4"},
		{"charset", []any{1}, "binary"},
		{"collation", []any{"abc"}, "utf8mb4_bin"},
		{"last_insert_id", nil, "0"},
		{"database", nil, "test"},
		{"schema", nil, "test"},
		{"user", nil, "root@localhost"},
		{"current_user", nil, "root@localhost"},
		{"version", nil, information.ServerVersion},
		{"connection_id", nil, "7"},
		{"row_count", nil, "3"},
		{"found_rows", nil, "5"},
	})
}
