package catalog

import (
	"slices"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/table"
)

// GeneratedCheck stands between the table's name and a number in the name of a CHECK constraint that was given none, as in MySQL.
const GeneratedCheck = "_chk_"

// freeChecks says whether a table may have its CHECK constraints: their names are unique in a database (3822). TEMPORARY tables, in databases
// of their own, disturb nobody.
func (d *database) freeChecks(schema *table.Schema) error {
	if len(schema.Checks) == 0 || IsHidden(d.name) {
		return nil
	}
	for _, c := range schema.Checks {
		if of := d.checks.get(fold(c.Name)); of != "" && of != fold(schema.Name) {
			return sqlerr.DuplicateCheck(c.Name)
		}
	}
	return nil
}

// renamedChecks are a table's CHECK constraints under its new name, which is in the names that were generated.
func renamedChecks(checks []table.Check, from, to string) []table.Check {
	checks = slices.Clone(checks)
	for i := range checks {
		if n, generated := strings.CutPrefix(checks[i].Name, from+GeneratedCheck); generated {
			checks[i].Name = to + GeneratedCheck + n
		}
	}
	return checks
}
