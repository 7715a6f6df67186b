package change

import (
	"regexp"
	"strings"

	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/table"
)

// columnOfRow finds the column that an error about a row's value names.
var columnOfRow = regexp.MustCompile(`for column '(.+)' at row [0-9]+$`)

// inFile adds to an error about a row that an INSERT takes from a file what tells the file's line. Rows of a query have lost theirs.
func inFile(st *session.Statement, err error, to *table.Schema) error {
	e := sqlerr.From(err)
	found := columnOfRow.FindStringSubmatch(e.Message)
	if found == nil || e.Hint != "" || len(st.Files.Uses) != 1 {
		return err
	}
	for name := range st.Files.Uses {
		if files.FormatOf(name) != files.CSV {
			return e.WithHint("the rows come from '%s'", fileaccess.Shown(name))
		}
		for _, c := range to.Columns {
			if strings.EqualFold(c.Name, found[1]) {
				return e.WithHint("the rows come from '%s'; SELECT * FROM `read_csv('%s', types = {'%s': '%s'}, rejects = true)` AS r lists the lines that do not fit",
					fileaccess.Shown(name), fileaccess.Shown(name), c.Name, c.Type)
			}
		}
	}
	return err
}
