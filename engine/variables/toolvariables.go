package variables

import (
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// Variables of MySQL that tools set or read, beside those in variables.go that Radish is run by.

// means says why a variable can be set though it changes nothing.
const means = "means nothing: "

// toolVariables are, for the most part, facts about the server.
var toolVariables = []Variable{
	{Name: "auto_increment_increment", Initial: fixed("1"), isInteger: true, set: setBetween("auto_increment_increment", 1, 65535), Doc: "the distance of the AUTO_INCREMENT values that INSERT gives out"},
	{Name: "auto_increment_offset", Initial: fixed("1"), isInteger: true, set: setBetween("auto_increment_offset", 1, 65535),
		Doc: "the first of those values; 1 if it is larger than auto_increment_increment"},
	{Name: "big_tables", Initial: fixed("0"), isBoolean: true, Doc: means + "results are in memory"},
	{Name: "character_set_database", Initial: fixed("utf8mb4"), ReadOnly: true},
	{Name: "character_set_filesystem", Initial: fixed("binary"), ReadOnly: true},
	{Name: "character_set_system", Initial: fixed("utf8mb4"), ReadOnly: true},
	{Name: "default_storage_engine", Initial: fixed("Radish"), ReadOnly: true, Doc: "ENGINE = says nothing"},
	{Name: "default_tmp_storage_engine", Initial: fixed("Radish"), ReadOnly: true},
	{Name: "default_week_format", Initial: fixed("0"), isInteger: true, ReadOnly: true, Doc: "of WEEK"},
	{Name: "error_count", Initial: fixed("0"), isInteger: true, ReadOnly: true, of: errorCount, Doc: "errors of the statement before"},
	{Name: "event_scheduler", Initial: fixed("DISABLED"), ReadOnly: true, Doc: "there are no events"},
	{Name: "explicit_defaults_for_timestamp", Initial: fixed("1"), isBoolean: true, ReadOnly: true},
	{Name: "gtid_mode", Initial: fixed("OFF"), ReadOnly: true},
	{Name: "hostname", Initial: fixed("localhost"), ReadOnly: true},
	{Name: "identity", Initial: fixed("0"), isInteger: true, of: lastInsertID, set: setLastInsertID, Doc: "last_insert_id"},
	{Name: "information_schema_stats_expiry", Initial: fixed("86400"), isInteger: true, Doc: "dumps set it; it " + means + "figures are never old"},
	{Name: "init_connect", Initial: fixed(""), ReadOnly: true},
	{Name: "innodb_autoinc_lock_mode", Initial: fixed("2"), isInteger: true, ReadOnly: true, Doc: "values that are given out are not given again, and INSERTs do not wait for each other"},
	{
		Name: "innodb_buffer_pool_size", Initial: func(e *database.Database) string { return strconv.FormatInt(max(e.Budget.Limit(), 0), 10) }, isInteger: true, ReadOnly: true,
		Doc: "the memory limit of the database; 0: it has none",
	},
	{Name: "innodb_file_per_table", Initial: fixed("0"), isBoolean: true, ReadOnly: true, Doc: "tables are in memory"},
	{Name: "innodb_lock_wait_timeout", Initial: fixed("50"), isInteger: true, Doc: means + "no row is waited for"},
	{Name: "innodb_read_only", Initial: fixed("0"), isBoolean: true, ReadOnly: true},
	{Name: "innodb_strict_mode", Initial: fixed("1"), isBoolean: true, Doc: means + "options of storage are not checked"},
	{Name: "innodb_version", Initial: fixed(database.MySQLVersion), ReadOnly: true},
	{Name: "join_buffer_size", Initial: fixed("262144"), isInteger: true, Doc: means + "radish_memory_limit bounds a query"},
	{Name: "last_insert_id", Initial: fixed("0"), isInteger: true, of: lastInsertID, set: setLastInsertID, Doc: "what LAST_INSERT_ID() gives"},
	{Name: "lc_messages", Initial: fixed("en_US"), ReadOnly: true},
	{Name: "lc_time_names", Initial: fixed("en_US"), ReadOnly: true, Doc: "of the names of days and months"},
	{Name: "local_infile", Initial: fixed("1"), isBoolean: true, ReadOnly: true, Doc: "LOAD DATA LOCAL is the same as LOAD DATA"},
	{Name: "lock_wait_timeout", Initial: fixed("31536000"), isInteger: true, set: setBetween("lock_wait_timeout", 1, 31536000), Doc: "seconds after which a statement gives up that waits for another session's LOCK TABLES (1205)"},
	{Name: "log_bin", Initial: fixed("0"), isBoolean: true, ReadOnly: true},
	{Name: "max_connections", Initial: fixed("100000"), isInteger: true, ReadOnly: true, Doc: "sessions are bounded by memory only"},
	{Name: "max_error_count", Initial: fixed(strconv.Itoa(sqlerr.MaxWarnings)), isInteger: true, ReadOnly: true, Doc: "warnings of a statement that are kept"},
	{Name: "max_heap_table_size", Initial: fixed("16777216"), isInteger: true, Doc: means + "memory_limit bounds the tables of a database"},
	{Name: "max_join_size", Initial: fixed("18446744073709551615"), isInteger: true, Doc: means + "as for sql_big_selects"},
	{Name: "max_user_connections", Initial: fixed("0"), isInteger: true, ReadOnly: true},
	{Name: "net_buffer_length", Initial: fixed("16384"), isInteger: true, ReadOnly: true},
	{Name: "net_read_timeout", Initial: fixed("30"), isInteger: true, Doc: means + "there is no network"},
	{Name: "performance_schema", Initial: fixed("0"), isBoolean: true, ReadOnly: true},
	{Name: "port", Initial: fixed("0"), isInteger: true, ReadOnly: true, Doc: "there is none"},
	{Name: "protocol_version", Initial: fixed("10"), isInteger: true, ReadOnly: true},
	{Name: "pseudo_thread_id", Initial: fixed("0"), isInteger: true, ReadOnly: true, of: func(v *Settings) string { return strconv.FormatUint(v.of.ConnectionID(), 10) }, Doc: "CONNECTION_ID()"},
	{Name: "read_only", Initial: fixed("0"), isBoolean: true, ReadOnly: true},
	{Name: "secure_file_priv", Initial: fixed(""), ReadOnly: true, of: secureFilePriv, Doc: "empty: files are read where the program may; NULL: none are; else the first folder of radish_file_access"},
	{Name: "server_id", Initial: fixed("1"), isInteger: true, ReadOnly: true},
	{Name: "socket", Initial: fixed(""), ReadOnly: true, Doc: "there is none"},
	{Name: "sort_buffer_size", Initial: fixed("262144"), isInteger: true, Doc: means + "radish_memory_limit bounds a query"},
	{Name: "sql_auto_is_null", Initial: fixed("0"), isBoolean: true, set: setOnly("sql_auto_is_null", "0"), Doc: "1, with which `id IS NULL` finds the last row inserted, is refused"},
	{Name: "sql_big_selects", Initial: fixed("1"), isBoolean: true, Doc: means + "no SELECT is refused for what it may read; max_execution_time ends it"},
	{Name: "sql_buffer_result", Initial: fixed("0"), isBoolean: true, Doc: means + "readers block nobody"},
	{Name: "sql_quote_show_create", Initial: fixed("1"), isBoolean: true, set: setOnly("sql_quote_show_create", "1"), Doc: "SHOW CREATE puts all names in backticks"},
	{Name: "sql_require_primary_key", Initial: fixed("0"), isBoolean: true, set: setOnly("sql_require_primary_key", "0"), Doc: "1 is refused"},
	{Name: "sql_warnings", Initial: fixed("0"), isBoolean: true, Doc: means + "the shell shows warnings, and SHOW WARNINGS"},
	{Name: "super_read_only", Initial: fixed("0"), isBoolean: true, ReadOnly: true},
	{Name: "timestamp", Initial: fixed("0"), of: timestampNow, set: setTimestamp, Doc: "seconds since 1970: the moment that NOW() gives from now on; 0: the clock's"},
	{Name: "tmp_table_size", Initial: fixed("16777216"), isInteger: true, Doc: means + "radish_memory_limit bounds a query"},
	{Name: "version_compile_machine", Initial: fixed(runtime.GOARCH), ReadOnly: true},
	{Name: "version_compile_os", Initial: fixed(runtime.GOOS), ReadOnly: true},
	{Name: "warning_count", Initial: fixed("0"), isInteger: true, ReadOnly: true, of: warningCount, Doc: "warnings, errors and notes of the statement before"},
}

func warningCount(v *Settings) string {
	n, _ := v.of.WarningCounts()
	return strconv.FormatInt(n, 10)
}

func errorCount(v *Settings) string {
	_, n := v.of.WarningCounts()
	return strconv.FormatInt(n, 10)
}

func lastInsertID(v *Settings) string { return strconv.FormatInt(v.of.InsertID().Load(), 10) }

func setLastInsertID(v *Settings, value string) (string, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return "", sqlerr.WrongValueForVar("last_insert_id", value)
	}
	v.of.InsertID().Store(n)
	return value, nil
}

// setBetween takes integers, and brings those beyond its bounds to them, as MySQL does.
func setBetween(name string, least, most int64) func(*Settings, string) (string, error) {
	return func(v *Settings, value string) (string, error) {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return "", sqlerr.WrongValueForVar(name, value)
		}
		if n < least || n > most {
			v.of.Warn(sqlerr.CodeTruncatedWrongValue, "Truncated incorrect %s value: '%s'", name, value)
		}
		return strconv.FormatInt(min(max(n, least), most), 10), nil
	}
}

// setOnly takes the value that a variable has.
func setOnly(name, only string) func(*Settings, string) (string, error) {
	return func(_ *Settings, value string) (string, error) {
		if value != only {
			return "", sqlerr.NotSupportedf("SET "+name+" = "+value, "it is always %s", only)
		}
		return value, nil
	}
}

// setSelectLimit takes a number of rows, which may be larger than any.
func setSelectLimit(_ *Settings, value string) (string, error) {
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

// SelectLimit is the number of rows that a SELECT without LIMIT gives at most; -1: all.
func (v *Settings) SelectLimit() int64 {
	n, err := strconv.ParseInt(v.Text("sql_select_limit"), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// setTimestamp stops the clock for NOW() and its kin, or lets it go on.
func setTimestamp(v *Settings, value string) (string, error) {
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

// Now is the moment of a statement that begins now.
func (v *Settings) Now() time.Time {
	if v.stopped.IsZero() {
		return time.Now()
	}
	return v.stopped
}

func timestampNow(v *Settings) string {
	return strconv.FormatFloat(float64(v.Now().UnixMicro())/1e6, 'f', 6, 64)
}

// sortedVariables are all variables, by their names.
func sortedVariables(lists ...[]Variable) []Variable {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	for i := range all {
		def := &all[i]
		if def.isBoolean {
			def.isInteger = true
			if def.set == nil {
				def.set = setSwitch(def.Name)
			}
		}
	}
	return all
}

// secureFilePriv tells MySQL's clients what radish_file_access allows.
func secureFilePriv(v *Settings) string {
	if v.Access.ReadsAll() {
		return ""
	}
	for _, item := range strings.Split(v.Access.String(), ",") {
		if item != "none" && !fileaccess.IsRemote(item) {
			return strings.TrimPrefix(item, "read:")
		}
	}
	return "NULL"
}
