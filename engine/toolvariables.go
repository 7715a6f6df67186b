package engine

import (
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// Variables of MySQL that tools set or read, beside those in variables.go that Radish is run by.

// means says why a variable can be set though it changes nothing.
const means = "means nothing: "

// toolVariables are, for the most part, facts about the server.
var toolVariables = []variable{
	{name: "auto_increment_increment", initial: fixed("1"), isInteger: true, set: setBetween("auto_increment_increment", 1, 65535), doc: "the distance of the AUTO_INCREMENT values that INSERT gives out"},
	{name: "auto_increment_offset", initial: fixed("1"), isInteger: true, set: setBetween("auto_increment_offset", 1, 65535),
		doc: "the first of those values; 1 if it is larger than auto_increment_increment"},
	{name: "big_tables", initial: fixed("0"), isBoolean: true, doc: means + "results are in memory"},
	{name: "character_set_database", initial: fixed("utf8mb4"), readOnly: true},
	{name: "character_set_filesystem", initial: fixed("binary"), readOnly: true},
	{name: "character_set_system", initial: fixed("utf8mb4"), readOnly: true},
	{name: "default_storage_engine", initial: fixed("Radish"), readOnly: true, doc: "ENGINE = says nothing"},
	{name: "default_tmp_storage_engine", initial: fixed("Radish"), readOnly: true},
	{name: "default_week_format", initial: fixed("0"), isInteger: true, readOnly: true, doc: "of WEEK"},
	{name: "error_count", initial: fixed("0"), isInteger: true, readOnly: true, of: func(v *variables) string { return strconv.FormatInt(v.session.last.counted.errors, 10) }, doc: "errors of the statement before"},
	{name: "event_scheduler", initial: fixed("DISABLED"), readOnly: true, doc: "there are no events"},
	{name: "explicit_defaults_for_timestamp", initial: fixed("1"), isBoolean: true, readOnly: true},
	{name: "gtid_mode", initial: fixed("OFF"), readOnly: true},
	{name: "hostname", initial: fixed("localhost"), readOnly: true},
	{name: "identity", initial: fixed("0"), isInteger: true, of: lastInsertID, set: setLastInsertID, doc: "last_insert_id"},
	{name: "information_schema_stats_expiry", initial: fixed("86400"), isInteger: true, doc: "dumps set it; it " + means + "figures are never old"},
	{name: "init_connect", initial: fixed(""), readOnly: true},
	{name: "innodb_autoinc_lock_mode", initial: fixed("2"), isInteger: true, readOnly: true, doc: "values that are given out are not given again, and INSERTs do not wait for each other"},
	{
		name: "innodb_buffer_pool_size", initial: func(e *Engine) string { return strconv.FormatInt(max(e.budget.Limit(), 0), 10) }, isInteger: true, readOnly: true,
		doc: "the memory limit of the database; 0: it has none",
	},
	{name: "innodb_file_per_table", initial: fixed("0"), isBoolean: true, readOnly: true, doc: "tables are in memory"},
	{name: "innodb_lock_wait_timeout", initial: fixed("50"), isInteger: true, doc: means + "no row is waited for"},
	{name: "innodb_read_only", initial: fixed("0"), isBoolean: true, readOnly: true},
	{name: "innodb_strict_mode", initial: fixed("1"), isBoolean: true, doc: means + "options of storage are not checked"},
	{name: "innodb_version", initial: fixed(MySQLVersion), readOnly: true},
	{name: "join_buffer_size", initial: fixed("262144"), isInteger: true, doc: means + "radish_memory_limit bounds a query"},
	{name: "last_insert_id", initial: fixed("0"), isInteger: true, of: lastInsertID, set: setLastInsertID, doc: "what LAST_INSERT_ID() gives"},
	{name: "lc_messages", initial: fixed("en_US"), readOnly: true},
	{name: "lc_time_names", initial: fixed("en_US"), readOnly: true, doc: "of the names of days and months"},
	{name: "local_infile", initial: fixed("1"), isBoolean: true, readOnly: true, doc: "LOAD DATA LOCAL is the same as LOAD DATA"},
	{name: "lock_wait_timeout", initial: fixed("31536000"), isInteger: true, set: setBetween("lock_wait_timeout", 1, 31536000), doc: "seconds after which a statement gives up that waits for another session's LOCK TABLES (1205)"},
	{name: "log_bin", initial: fixed("0"), isBoolean: true, readOnly: true},
	{name: "max_connections", initial: fixed("100000"), isInteger: true, readOnly: true, doc: "sessions are bounded by memory only"},
	{name: "max_error_count", initial: fixed(strconv.Itoa(sqlerr.MaxWarnings)), isInteger: true, readOnly: true, doc: "warnings of a statement that are kept"},
	{name: "max_heap_table_size", initial: fixed("16777216"), isInteger: true, doc: means + "memory_limit bounds the tables of a database"},
	{name: "max_join_size", initial: fixed("18446744073709551615"), isInteger: true, doc: means + "as for sql_big_selects"},
	{name: "max_user_connections", initial: fixed("0"), isInteger: true, readOnly: true},
	{name: "net_buffer_length", initial: fixed("16384"), isInteger: true, readOnly: true},
	{name: "net_read_timeout", initial: fixed("30"), isInteger: true, doc: means + "there is no network"},
	{name: "performance_schema", initial: fixed("0"), isBoolean: true, readOnly: true},
	{name: "port", initial: fixed("0"), isInteger: true, readOnly: true, doc: "there is none"},
	{name: "protocol_version", initial: fixed("10"), isInteger: true, readOnly: true},
	{name: "pseudo_thread_id", initial: fixed("0"), isInteger: true, readOnly: true, of: func(v *variables) string { return strconv.FormatUint(v.session.id, 10) }, doc: "CONNECTION_ID()"},
	{name: "read_only", initial: fixed("0"), isBoolean: true, readOnly: true},
	{name: "secure_file_priv", initial: fixed(""), readOnly: true, of: secureFilePriv, doc: "empty: files are read where the program may; NULL: none are; else the first folder of radish_file_access"},
	{name: "server_id", initial: fixed("1"), isInteger: true, readOnly: true},
	{name: "socket", initial: fixed(""), readOnly: true, doc: "there is none"},
	{name: "sort_buffer_size", initial: fixed("262144"), isInteger: true, doc: means + "radish_memory_limit bounds a query"},
	{name: "sql_auto_is_null", initial: fixed("0"), isBoolean: true, set: setOnly("sql_auto_is_null", "0"), doc: "1, with which `id IS NULL` finds the last row inserted, is refused"},
	{name: "sql_big_selects", initial: fixed("1"), isBoolean: true, doc: means + "no SELECT is refused for what it may read; max_execution_time ends it"},
	{name: "sql_buffer_result", initial: fixed("0"), isBoolean: true, doc: means + "readers block nobody"},
	{name: "sql_quote_show_create", initial: fixed("1"), isBoolean: true, set: setOnly("sql_quote_show_create", "1"), doc: "SHOW CREATE puts all names in backticks"},
	{name: "sql_require_primary_key", initial: fixed("0"), isBoolean: true, set: setOnly("sql_require_primary_key", "0"), doc: "1 is refused"},
	{name: "sql_warnings", initial: fixed("0"), isBoolean: true, doc: means + "the shell shows warnings, and SHOW WARNINGS"},
	{name: "super_read_only", initial: fixed("0"), isBoolean: true, readOnly: true},
	{name: "timestamp", initial: fixed("0"), of: timestampNow, set: setTimestamp, doc: "seconds since 1970: the moment that NOW() gives from now on; 0: the clock's"},
	{name: "tmp_table_size", initial: fixed("16777216"), isInteger: true, doc: means + "radish_memory_limit bounds a query"},
	{name: "version_compile_machine", initial: fixed(runtime.GOARCH), readOnly: true},
	{name: "version_compile_os", initial: fixed(runtime.GOOS), readOnly: true},
	{name: "warning_count", initial: fixed("0"), isInteger: true, readOnly: true, of: func(v *variables) string { return strconv.FormatInt(v.session.last.counted.warnings, 10) }, doc: "warnings, errors and notes of the statement before"},
}

// counts are how many warnings the statement before left: what @@warning_count and @@error_count give.
type counts struct{ warnings, errors int64 }

func countsOf(w *sqlerr.Warnings) (c counts) {
	c.warnings = w.Count()
	for _, one := range w.List() {
		if one.Level == sqlerr.LevelError {
			c.errors++
		}
	}
	return c
}

func lastInsertID(v *variables) string { return strconv.FormatInt(v.session.lastInsertID.Load(), 10) }

func setLastInsertID(v *variables, value string) (string, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return "", sqlerr.WrongValueForVar("last_insert_id", value)
	}
	v.session.lastInsertID.Store(n)
	return value, nil
}

// setBetween takes integers, and brings those beyond its bounds to them, as MySQL does.
func setBetween(name string, least, most int64) func(*variables, string) (string, error) {
	return func(v *variables, value string) (string, error) {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return "", sqlerr.WrongValueForVar(name, value)
		}
		if n < least || n > most {
			v.session.warnings.Add(sqlerr.LevelWarning, sqlerr.CodeTruncatedWrongValue, "Truncated incorrect %s value: '%s'", name, value)
		}
		return strconv.FormatInt(min(max(n, least), most), 10), nil
	}
}

// setOnly takes the value that a variable has.
func setOnly(name, only string) func(*variables, string) (string, error) {
	return func(_ *variables, value string) (string, error) {
		if value != only {
			return "", sqlerr.NotSupportedf("SET "+name+" = "+value, "it is always %s", only)
		}
		return value, nil
	}
}

// setSelectLimit takes a number of rows, which may be larger than any.
func setSelectLimit(_ *variables, value string) (string, error) {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil && n < 0 {
		return "0", nil
	} else if err == nil {
		return value, nil
	}
	if _, err := strconv.ParseUint(value, 10, 64); err != nil {
		return "", sqlerr.WrongValueForVar("sql_select_limit", value)
	}
	return value, nil
}

// selectLimit is the number of rows that a SELECT without LIMIT gives at most; -1: all.
func (v *variables) selectLimit() int64 {
	n, err := strconv.ParseInt(v.get(variableByName["sql_select_limit"]), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// setTimestamp stops the clock for NOW() and its kin, or lets it go on.
func setTimestamp(v *variables, value string) (string, error) {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || f < 0 || f >= 1<<32 {
		return "", sqlerr.WrongValueForVar("timestamp", value)
	}
	v.stopped = time.Time{}
	if whole, fraction := math.Modf(f); f > 0 {
		v.stopped = time.Unix(int64(whole), int64(math.Round(fraction*1e6))*1000)
	}
	return value, nil
}

// now is the moment of a statement that begins now.
func (v *variables) now() time.Time {
	if v.stopped.IsZero() {
		return time.Now()
	}
	return v.stopped
}

func timestampNow(v *variables) string {
	return strconv.FormatFloat(float64(v.now().UnixMicro())/1e6, 'f', 6, 64)
}

// sortedVariables are all variables, by their names.
func sortedVariables(lists ...[]variable) []variable {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b variable) int { return strings.Compare(a.name, b.name) })
	for i := range all {
		def := &all[i]
		if def.isBoolean {
			def.isInteger = true
			if def.set == nil {
				def.set = setSwitch(def.name)
			}
		}
	}
	return all
}

// secureFilePriv tells MySQL's clients what radish_file_access allows.
func secureFilePriv(v *variables) string {
	if v.access.ReadsAll() {
		return ""
	}
	for _, item := range strings.Split(v.access.String(), ",") {
		if item != "none" && !fileaccess.IsRemote(item) {
			return strings.TrimPrefix(item, "read:")
		}
	}
	return "NULL"
}
