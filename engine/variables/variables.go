package variables

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/values"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// Variable describes a system variable once: SET, SHOW VARIABLES, @@name and docs/reference/variables.md follow it.
type Variable struct {
	Name      string
	Initial   func(*database.Database) string
	Doc       string
	isInteger bool
	isBoolean bool // an integer that is 0 or 1, which SHOW writes as OFF and ON
	ReadOnly  bool
	// of gives the value of a variable that follows from others; nil: it has one of its own.
	of func(*Settings) string
	// set checks a new value, normalises it and lets it take effect; nil: any value is taken and means nothing.
	set func(v *Settings, value string) (string, error)
}

func fixed(s string) func(*database.Database) string {
	return func(*database.Database) string { return s }
}

// ownVariables are those that Radish is run by; see toolVariables for others.
var ownVariables = []Variable{
	{
		Name: "autocommit", Initial: fixed("1"), isBoolean: true,
		Doc: "0: what follows is a transaction until COMMIT or ROLLBACK",
	},
	{Name: "character_set_client", Initial: fixed("utf8mb4"), set: onlyUTF8("character_set_client")},
	{Name: "character_set_connection", Initial: fixed("utf8mb4"), set: onlyUTF8("character_set_connection")},
	{Name: "character_set_results", Initial: fixed("utf8mb4"), set: onlyUTF8("character_set_results")},
	{Name: "character_set_server", Initial: fixed("utf8mb4"), ReadOnly: true},
	{
		Name: "collation_connection", Initial: fixed("utf8mb4_bin"), set: setCollation,
		Doc: "the collation of literals; SET NAMES sets it too",
	},
	{
		Name: "collation_database", Initial: fixed("utf8mb4_bin"), ReadOnly: true, of: collationDatabase,
		Doc: "the collation that CREATE DATABASE gave the current database, or else collation_server",
	},
	{
		Name: "collation_server", Initial: fixed("utf8mb4_bin"), set: setCollation,
		Doc: "the collation of the session's new tables where neither they nor their database name one",
	},
	{Name: "cte_max_recursion_depth", Initial: fixed("1000"), isInteger: true, Doc: "rounds of a recursive expression after which it is an error"},
	{
		Name: "div_precision_increment", Initial: fixed("4"), isInteger: true, ReadOnly: true,
		Doc: "digits that / adds to the scale of a DECIMAL",
	},
	{Name: "group_concat_max_len", Initial: fixed("1073741824"), isInteger: true, set: setBetween("group_concat_max_len", 4, math.MaxInt64), Doc: "bytes after which GROUP_CONCAT is cut, with warning 1260; MySQL starts with 1024"},
	{
		Name: "lower_case_table_names", Initial: fixed("2"), isInteger: true, ReadOnly: true,
		Doc: "names compare without case and keep the case in which they were made",
	},
	{
		Name: "max_allowed_packet", Initial: fixed(strconv.Itoa(expr.MaxAllowedPacket)), isInteger: true, ReadOnly: true,
		Doc: "REPEAT, SPACE, LPAD and RPAD give NULL for a string of more bytes; statements and other strings may be longer",
	},
	{
		Name: "max_execution_time", Initial: fixed("0"), isInteger: true, set: setMaxExecutionTime,
		Doc: "milliseconds after which a statement is cancelled; 0: never",
	},
	{Name: "gtid_purged", Initial: fixed(""), Doc: "dumps set it; it means nothing"},
	{Name: "net_write_timeout", Initial: fixed("60"), isInteger: true},
	{
		Name: "radish_device", Initial: func(e *database.Database) string { return string(e.Opts.Device) }, set: setDevice,
		Doc: "where pipelines run: cpu; gpu (all that can; an error if there is none); gpu_strict (an error if one cannot); " +
			"auto: as estimated",
	},
	{
		Name: "radish_disabled_rules", Initial: fixed(""), set: setDisabledRules,
		Doc: "names of rewrite rules to leave out, separated by commas",
	},
	{
		Name: "radish_file_access", Initial: func(e *database.Database) string { return e.Access.String() }, of: func(v *Settings) string { return v.Access.String() }, set: setFileAccess,
		Doc: "the files that statements may use: full, read, none, or folders (read:FOLDER only reads), and addresses; a session can narrow it, never widen it",
	},
	{
		Name: gpuDevices, Initial: fixed(gpu.AllDevices), set: setGPUDevices,
		Doc: "the GPUs of queries: all that can work with the first one, or numbers such as '0,1'; the first of them has the results",
	},
	{
		Name: "radish_gpu_join_bits", Initial: fixed("0"), isInteger: true, set: setOrZero("radish_gpu_join_bits", gpu.LeastPartitionBits, gpu.MostPartitionBits),
		Doc: "bits of the key by which a GPU partitions the rows of a join in a pass, 5 to 9 (8 in two passes); 0: as many as the rows need",
	},
	{
		Name: GPUJoinPartitions, Initial: fixed(string(gpu.PartitionsByCost)), set: setJoinPartitions,
		Doc: "joins on a GPU that have both sides in partitions of their keys: auto, those for which that costs less; always, all that can; never",
	},
	{
		Name: "radish_gpu_join_passes", Initial: fixed("0"), isInteger: true, set: setOrZero("radish_gpu_join_passes", 1, 2),
		Doc: "passes in which a GPU partitions the rows of a join, 1 or 2; 0: as many as the rows need",
	},
	{
		Name: GPUJoinSorted, Initial: fixed(string(gpu.SortedByHint)), set: setJoinSorted,
		Doc: "joins on a GPU that have both sides sorted by their keys and merged: hint, those that a hint MERGE_JOIN asks for; always, all that can; never",
	},
	{
		Name: "radish_gpu_memory_limit", Initial: fixed("0"), set: setBytes("radish_gpu_memory_limit"),
		Doc: "bytes of each GPU's memory that one query may hold beside table columns (KB, MB, GB are understood); 0: as many as there are",
	},
	{
		Name: GPUShare, Initial: fixed(string(gpu.ShareByCost)), set: setShare,
		Doc: "queries that several GPUs share: auto, those that are expected to gain by it; always, all that can; never",
	},
	{
		Name: "radish_gpu_table_memory", Initial: fixed("0"), set: setBytes("radish_gpu_table_memory"),
		Doc: "bytes of each GPU's memory that table columns may take (KB, MB, GB are understood): larger tables are read in windows; 0: as many as there are",
	},
	{
		Name: "radish_gpu_total_memory_limit", Initial: func(e *database.Database) string { return strconv.FormatInt(e.Opts.GPUMemoryLimit, 10) }, isInteger: true, ReadOnly: true,
		Doc: "bytes of each GPU's memory that all queries and table columns may hold together: gpu_memory_limit of the database's name; 0: as many as there are",
	},
	{
		Name: "radish_memory_limit", Initial: fixed("0"), set: setBytes("radish_memory_limit"),
		Doc: "bytes that one query may hold (KB, MB, GB are understood); 0: no bound of its own",
	},
	{
		Name: "radish_temp_folder", Initial: fixed(""), set: setTempFolder,
		Doc: "folder for rows that do not fit a query's memory limit, which radish_file_access has to let be written to; empty: the system's; none: no rows are written",
	},
	{
		Name: "radish_threads", Initial: func(e *database.Database) string { return strconv.Itoa(e.Opts.Threads) }, isInteger: true, set: setThreads,
		Doc: "workers of a query",
	},
	{
		Name: ExplainFormat, Initial: fixed(FormatPipelines), set: setExplainFormat,
		Doc: "what EXPLAIN without FORMAT shows: pipelines; tree, the shell's choice; json",
	},
	{
		Name: UnsetVariables, Initial: fixed(UnsetNull), set: setUnsetVariables,
		Doc: "what reading a user variable gives that nothing has set: null, as in MySQL; warn, NULL and a warning; error, the shell's choice for scripts",
	},
	{
		Name:    "sql_mode",
		Initial: fixed("ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"),
		set:     setSQLMode,
		Doc:     "as in MySQL",
	},
	{
		Name: "sql_safe_updates", Initial: fixed("0"), isBoolean: true,
		Doc: "1: UPDATE and DELETE without LIMIT need a WHERE that compares the first column of an index (1175)",
	},
	{
		Name: "sql_select_limit", Initial: fixed("18446744073709551615"), isInteger: true, set: setSelectLimit,
		Doc: "rows that a SELECT without LIMIT gives at most; not in subqueries, INSERT ... SELECT and the like",
	},
	{Name: "system_time_zone", Initial: fixed("UTC"), ReadOnly: true},
	{Name: "time_zone", Initial: fixed("SYSTEM"), set: setTimeZone, Doc: "SYSTEM, +hh:mm, or a name of the IANA database"},
	{
		Name: "transaction_isolation", Initial: fixed(repeatableRead), set: SetIsolation,
		Doc: "of transactions that begin from now on: READ-UNCOMMITTED and READ-COMMITTED are served as REPEATABLE-READ, a snapshot; SERIALIZABLE is what it says",
	},
	{Name: "transaction_read_only", Initial: fixed("0"), isBoolean: true, Doc: "1: transactions may not write"},
	{
		Name: "block_encryption_mode", Initial: fixed("aes-128-ecb"), set: setEncryptionMode,
		Doc: "of AES_ENCRYPT and AES_DECRYPT: aes-, 128, 192 or 256, and -ecb, -cbc, -ofb or -cfb128",
	},
	{Name: "unique_checks", Initial: fixed("1"), isBoolean: true, Doc: "dumps set it; unique keys are enforced whatever it is"},
	{
		Name: "foreign_key_checks", Initial: fixed("1"), isBoolean: true,
		Doc: "0: what is written is neither checked against foreign keys nor do they change other rows, and tables that others refer to can be dropped",
	},
	{Name: "version", Initial: fixed(database.MySQLVersion), ReadOnly: true},
	{Name: "version_comment", Initial: fixed("Radish " + database.Version), ReadOnly: true},
	{Name: "sql_log_bin", Initial: fixed("1"), isBoolean: true, Doc: "dumps set it; it means nothing"},
	{Name: "sql_notes", Initial: fixed("1"), isBoolean: true, Doc: "0: notes are not kept among the warnings"},
	{Name: "wait_timeout", Initial: fixed("28800"), isInteger: true},
	{Name: "interactive_timeout", Initial: fixed("28800"), isInteger: true},
}

// All lists every variable, in the order of the names.
var All = sortedVariables(ownVariables, toolVariables)

// Names lists the names of all variables, in their order.
func Names() []string {
	names := make([]string, len(All))
	for i := range All {
		names[i] = All[i].Name
	}
	return names
}

var byName = func() map[string]*Variable {
	m := map[string]*Variable{}
	for i := range All {
		m[All[i].Name] = &All[i]
	}
	return m
}()

// Facts are what some variables tell of their session, or do to it.
type Facts interface {
	// ConnectionID is the session's number.
	ConnectionID() uint64
	// InsertID is what LAST_INSERT_ID() gives.
	InsertID() *atomic.Int64
	// WarningCounts are how many warnings and errors the statement before left.
	WarningCounts() (warnings, errors int64)
	// DatabaseCollation is the collation of new tables in the current database.
	DatabaseCollation() types.Collation
	// Warn adds a warning to those of the statement.
	Warn(code sqlerr.Code, format string, args ...any)
}

// Settings are a session's settings.
type Settings struct {
	Engine *database.Database
	of     Facts
	users  *values.Kept
	Values map[string]string // of variables that were set; the others have their initial value

	ParseMode     parse.Mode
	ExprMode      expr.SQLMode
	Location      *time.Location
	stopped       time.Time // the moment that SET timestamp gave; zero: none
	DisabledRules map[string]bool
	Changes       int      // counts what was set
	digested      struct { // see Digest
		changes int
		text    string
	}
	Access *fileaccess.Policy // the files that statements may use
	gpus   []int              // of radish_gpu_devices; nil: all
}

// Init gives all variables their first values. users are the user variables of the session.
func (v *Settings) Init(e *database.Database, users *values.Kept, session Facts) {
	v.Engine, v.users, v.of = e, users, session
	v.Values = map[string]string{}
	v.ParseMode = parse.DefaultMode
	v.ExprMode = expr.DefaultSQLMode
	v.Location = time.Local
	v.Access = e.Access
}

// Lookup returns the variable of a name; nil: there is none.
func Lookup(name string) *Variable { return byName[CanonicalName(name)] }

// Text returns the value of the variable of a name.
func (v *Settings) Text(name string) string { return v.get(byName[name]) }

func (v *Settings) get(def *Variable) string {
	if def.of != nil {
		return def.of(v)
	}
	if s, ok := v.Values[def.Name]; ok {
		return s
	}
	return def.Initial(v.Engine)
}

// Digest writes what was set: two sessions of an engine with the same digest have the same variables.
func (v *Settings) Digest() string {
	if v.digested.changes != v.Changes {
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(v.Values)) {
			fmt.Fprintf(&b, "%s=%d:%s;", name, len(v.Values[name]), v.Values[name])
		}
		v.digested.changes, v.digested.text = v.Changes, b.String()
	}
	return v.digested.text
}

// Shown returns the value as SHOW VARIABLES writes it.
func (v *Settings) Shown(def *Variable) string {
	s := v.get(def)
	if def.isBoolean {
		return map[string]string{"0": "OFF", "1": "ON"}[s]
	}
	return s
}

// CanonicalName returns the name of a system variable, which may have an older one besides.
func CanonicalName(name string) string {
	switch name = strings.ToLower(name); name {
	case "tx_isolation", "tx_read_only":
		return "transaction" + strings.TrimPrefix(name, "tx")
	}
	return name
}

// SystemVariable returns the value of @@name.
func (v *Settings) SystemVariable(name string) (types.Value, bool) {
	def, ok := byName[CanonicalName(name)]
	if !ok {
		return types.Value{}, false
	}
	s := v.get(def)
	if def.isInteger {
		if i, err := strconv.ParseInt(s, 10, 64); err == nil {
			return types.IntValue(i), true
		}
		if u, err := strconv.ParseUint(s, 10, 64); err == nil {
			return types.Value{Type: types.Uint64, I: int64(u)}, true
		}
	}
	return types.StringValue(s), true
}

// UserVariable returns the value of @name.
func (v *Settings) UserVariable(name string) (types.Value, bool) {
	x, ok := v.users.Variables[strings.ToLower(name)]
	return x, ok
}

// Suggest implements [expr.Variables].
func (v *Settings) Suggest(name string) string {
	if _, ours := byName["radish_"+CanonicalName(name)]; ours {
		return "radish_" + CanonicalName(name)
	}
	return sqlerr.Suggest(name, slices.Sorted(maps.Keys(byName)))
}

// longestSetting is how many bytes the value of a system variable may have.
const longestSetting = 64 << 10

// SetSystem gives a system variable a value.
func (v *Settings) SetSystem(name, value string) error {
	def, ok := byName[CanonicalName(name)]
	if !ok {
		return sqlerr.UnknownVariable(name, v.Suggest(name))
	}
	if def.ReadOnly {
		return sqlerr.ReadOnlyVariable(def.Name)
	}
	if len(value) > longestSetting {
		return sqlerr.WrongValueForVar(def.Name, value).WithHint("it has %d bytes, and a setting %d at most", len(value), longestSetting)
	}
	if def.isInteger {
		switch strings.ToUpper(value) {
		case "ON", "TRUE":
			value = "1"
		case "OFF", "FALSE":
			value = "0"
		}
		_, err := strconv.ParseInt(value, 10, 64)
		if _, err2 := strconv.ParseUint(value, 10, 64); err != nil && err2 != nil {
			return sqlerr.WrongValueForVar(def.Name, value)
		}
	}
	if def.set != nil {
		var err error
		if value, err = def.set(v, value); err != nil {
			return err
		}
	}
	v.Changes++
	v.Values[def.Name] = strings.Clone(value) // not the statement that it is a piece of
	return nil
}

// Integer returns the value of a variable that is one.
func (v *Settings) Integer(name string) int64 {
	n, _ := strconv.ParseInt(v.Text(name), 10, 64)
	return n
}

// LockWait is how long a statement waits for another session's LOCK TABLES.
func (v *Settings) LockWait() time.Duration {
	return time.Duration(v.Integer("lock_wait_timeout")) * time.Second
}

// MaxExecutionTime is how long a statement may take; 0: as long as it wants.
func (v *Settings) MaxExecutionTime() time.Duration {
	return time.Duration(v.Integer("max_execution_time")) * time.Millisecond
}

// Threads is how many workers a query has.
func (v *Settings) Threads() int { return int(v.Integer("radish_threads")) }

// TempFolder is where statements may write what does not fit their memory; empty: nowhere.
func (v *Settings) TempFolder() string {
	folder := v.Text("radish_temp_folder")
	if folder == "" {
		folder = os.TempDir()
	}
	if folder == noTempFolder || v.Access.CheckWriting(folder) != nil {
		return ""
	}
	return folder
}

// MemoryLimit is what one query may hold; 0: no bound but the engine's.
func (v *Settings) MemoryLimit() int64 { return v.Integer("radish_memory_limit") }

// ParseBytes reads a number of bytes with an optional unit: 1048576, 512MB, 16GiB. Units are powers of 1024.
func ParseBytes(text string) (int64, error) {
	t := strings.ToUpper(strings.TrimSpace(text))
	t = strings.TrimSuffix(strings.TrimSuffix(t, "B"), "I")
	shift := 0
	if n := len(t); n > 0 {
		if i := strings.IndexByte("KMGT", t[n-1]); i >= 0 {
			shift, t = 10*(i+1), strings.TrimSpace(t[:n-1])
		}
	}
	f, err := strconv.ParseFloat(t, 64)
	if err != nil || f < 0 || f*float64(uint64(1)<<shift) > 1<<62 {
		return 0, fmt.Errorf("%q is no number of bytes", text)
	}
	return int64(f * float64(uint64(1)<<shift)), nil
}
