package parse

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Mode is a set of sql_mode flags. Four of them change how text is read: ANSI_QUOTES, PIPES_AS_CONCAT,
// NO_BACKSLASH_ESCAPES and HIGH_NOT_PRECEDENCE; the rest is for those who evaluate.
type Mode = mysql.SQLMode

// DefaultMode is MySQL 8's default sql_mode.
const DefaultMode = mysql.ModeOnlyFullGroupBy | mysql.ModeStrictTransTables | mysql.ModeNoZeroInDate | mysql.ModeNoZeroDate |
	mysql.ModeErrorForDivisionByZero | mysql.ModeNoEngineSubstitution

// ParseMode reads the value of SET sql_mode: names separated by commas, in any case; ANSI and TRADITIONAL stand for
// several.
func ParseMode(text string) (Mode, error) {
	names := strings.Split(text, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	mode, err := mysql.GetSQLMode(mysql.FormatSQLModeStr(strings.Join(names, ",")))
	if err != nil {
		return 0, sqlerr.WrongValueForVar("sql_mode", strings.TrimSpace(text))
	}
	return mode, nil
}
