// Package gormradish is the dialector for GORM over Radish: GORM's for MySQL, which knows Radish's errors.
//
//	db, err := gorm.Open(gormradish.Open("sales?memory_limit=2GB"), &gorm.Config{TranslateError: true})
//	if errors.Is(db.Create(&row).Error, gorm.ErrDuplicatedKey) { ... }
//
// GORM's dialector for MySQL translates errors of the type that go-sql-driver has, and no others. It is a module of
// its own, so that Radish does not depend on GORM.
package gormradish

import (
	"errors"
	"fmt"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/radish-sql/radish"
)

// Dialector is that of MySQL but for the errors.
type Dialector struct{ *mysql.Dialector }

// Open returns a dialector for the database of a name, as sql.Open("radish", name) takes it.
func Open(name string) gorm.Dialector {
	return New(mysql.Config{DriverName: "radish", DSN: name})
}

// New returns a dialector with a configuration of MySQL's dialector. Its Conn may be a pool that is open already.
func New(config mysql.Config) gorm.Dialector {
	if config.DriverName == "" {
		config.DriverName = "radish"
	}
	return Dialector{&mysql.Dialector{Config: &config}}
}

// violations are GORM's errors by MySQL's numbers.
var violations = map[uint16]error{
	1062: gorm.ErrDuplicatedKey,
	1451: gorm.ErrForeignKeyViolated, // rows refer to the one that is to go
	1452: gorm.ErrForeignKeyViolated, // there is no row to refer to
	3819: gorm.ErrCheckConstraintViolated,
}

// Translate implements gorm.ErrorTranslator. What it returns is GORM's error and still wraps the [radish.Error].
func (Dialector) Translate(err error) error {
	var refused *radish.Error
	if !errors.As(err, &refused) {
		return err
	}
	kind, known := violations[uint16(refused.Code)]
	if !known || errors.Is(err, kind) {
		return err
	}
	return fmt.Errorf("%w: %w", kind, err)
}
