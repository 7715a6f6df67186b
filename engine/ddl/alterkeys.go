package ddl

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/table"
)

// What ALTER TABLE does to keys and CHECK constraints; to foreign keys: alterforeign.go.

func (a *Alteration) keyNames() []string {
	var names []string
	for _, k := range a.keys {
		names = append(names, k.Name)
	}
	return names
}

func (a *Alteration) addConstraint(c *ast.Constraint) error {
	if c.Tp == ast.ConstraintForeignKey {
		return a.addForeign(c)
	}
	// The names of columns are looked up in a definition that has those of now.
	own := &table.Schema{Name: a.schema.Name}
	for _, c := range a.columns {
		own.Columns = append(own.Columns, c.def)
	}
	if err := addConstraint(own, c); err != nil {
		return err
	}
	for _, check := range own.Checks {
		if err := a.addCheck(check); err != nil {
			return err
		}
	}
	for _, k := range own.Keys {
		key := &alteredKey{Key: k}
		for _, o := range k.Columns {
			key.columns = append(key.columns, a.columns[o])
		}
		if c.Name == "" && !k.Primary {
			key.Name = ""
		}
		if c.IfNotExists && a.key(key.Name) >= 0 {
			continue
		}
		if err := a.addKey(key); err != nil {
			return err
		}
	}
	return nil
}

// key returns the index of the key of a name, or -1.
func (a *Alteration) key(name string) int {
	return slices.IndexFunc(a.keys, func(k *alteredKey) bool { return strings.EqualFold(k.Name, name) })
}

// addKey adds a key; one without a name gets its first column's, made unique by a number.
func (a *Alteration) addKey(k *alteredKey) error {
	if k.Name == "" {
		k.Name = freeName(k.columns[0].def.Name, func(name string) bool { return a.key(name) >= 0 })
	}
	if a.key(k.Name) >= 0 {
		if k.Primary {
			return sqlerr.MultiplePrimaryKey()
		}
		return sqlerr.DupKeyName(k.Name)
	}
	a.keys = append(a.keys, k)
	return nil
}

func (a *Alteration) dropKey(name string, ifExists bool) error {
	i := a.key(name)
	switch {
	case i >= 0:
		a.keys = slices.Delete(a.keys, i, i+1)
		return nil
	case ifExists:
		return nil
	}
	return sqlerr.CantDrop(name, sqlerr.Suggest(name, a.keyNames()))
}

func (a *Alteration) renameKey(from, to string) error {
	i := a.key(from)
	if i < 0 {
		return sqlerr.NoSuchKey(from, a.schema.Name, sqlerr.Suggest(from, a.keyNames()))
	}
	if j := a.key(to); j >= 0 && j != i {
		return sqlerr.DupKeyName(to)
	}
	a.keys[i].Name = to
	return nil
}

func (a *Alteration) addCheck(c table.Check) error {
	taken := func(name string) bool {
		return slices.ContainsFunc(a.checks, func(x table.Check) bool { return strings.EqualFold(x.Name, name) })
	}
	switch {
	case c.Name == "" || strings.HasPrefix(c.Name, generatedCheck):
		c.Name = checkName(a.schema.Name, taken)
	case taken(c.Name):
		return sqlerr.DuplicateCheck(c.Name)
	}
	a.checks = append(a.checks, c)
	a.tested = true
	return nil
}

// changeCheck drops a CHECK constraint, or lets it be enforced or not. DROP CONSTRAINT may mean a key as well.
func (a *Alteration) changeCheck(spec *ast.AlterTableSpec) error {
	name := spec.Constraint.Name
	i := slices.IndexFunc(a.checks, func(c table.Check) bool { return strings.EqualFold(c.Name, name) })
	switch {
	case i < 0 && spec.Tp == ast.AlterTableDropCheck && a.key(name) >= 0:
		return a.dropKey(name, false)
	case i < 0 && spec.Tp == ast.AlterTableDropCheck && a.foreignKey(name) >= 0:
		return a.dropForeign(name, false)
	case i < 0:
		var names []string
		for _, c := range a.checks {
			names = append(names, c.Name)
		}
		return sqlerr.NoSuchCheck(name, sqlerr.Suggest(name, names))
	case spec.Tp == ast.AlterTableDropCheck:
		a.checks = slices.Delete(a.checks, i, i+1)
	default:
		a.checks[i].NotEnforced = !spec.Constraint.Enforced
		a.tested = a.tested || spec.Constraint.Enforced
	}
	return nil
}
