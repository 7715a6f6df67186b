package engine

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// variable describes a system variable once: SET, SHOW VARIABLES, @@name and docs/reference/variables.md follow it.
type variable struct {
	name      string
	initial   func(*Engine) string
	doc       string
	isInteger bool
	isBoolean bool // an integer that is 0 or 1, which SHOW writes as OFF and ON
	readOnly  bool
	// of gives the value of a variable that follows from others; nil: it has one of its own.
	of func(*variables) string
	// set checks a new value, normalises it and lets it take effect; nil: any value is taken and means nothing.
	set func(v *variables, value string) (string, error)
}

func fixed(s string) func(*Engine) string { return func(*Engine) string { return s } }

// ownVariables are those that Radish is run by; see toolVariables for others.
var ownVariables = []variable{
	{
		name: "autocommit", initial: fixed("1"), isBoolean: true,
		doc: "0: what follows is a transaction until COMMIT or ROLLBACK",
	},
	{name: "character_set_client", initial: fixed("utf8mb4"), set: onlyUTF8("character_set_client")},
	{name: "character_set_connection", initial: fixed("utf8mb4"), set: onlyUTF8("character_set_connection")},
	{name: "character_set_results", initial: fixed("utf8mb4"), set: onlyUTF8("character_set_results")},
	{name: "character_set_server", initial: fixed("utf8mb4"), readOnly: true},
	{
		name: "collation_connection", initial: fixed("utf8mb4_bin"), set: setCollation,
		doc: "the collation of literals; SET NAMES sets it too",
	},
	{
		name: "collation_database", initial: fixed("utf8mb4_bin"), readOnly: true, of: collationDatabase,
		doc: "the collation that CREATE DATABASE gave the current database, or else collation_server",
	},
	{
		name: "collation_server", initial: fixed("utf8mb4_bin"), set: setCollation,
		doc: "the collation of the session's new tables where neither they nor their database name one",
	},
	{name: "cte_max_recursion_depth", initial: fixed("1000"), isInteger: true, doc: "rounds of a recursive expression after which it is an error"},
	{
		name: "div_precision_increment", initial: fixed("4"), isInteger: true, readOnly: true,
		doc: "digits that / adds to the scale of a DECIMAL",
	},
	{name: "group_concat_max_len", initial: fixed("1073741824"), isInteger: true, set: setBetween("group_concat_max_len", 4, math.MaxInt64), doc: "bytes after which GROUP_CONCAT is cut, with warning 1260; MySQL starts with 1024"},
	{
		name: "lower_case_table_names", initial: fixed("2"), isInteger: true, readOnly: true,
		doc: "names compare without case and keep the case in which they were made",
	},
	{
		name: "max_allowed_packet", initial: fixed(strconv.Itoa(expr.MaxAllowedPacket)), isInteger: true, readOnly: true,
		doc: "REPEAT, SPACE, LPAD and RPAD give NULL for a string of more bytes; statements and other strings may be longer",
	},
	{
		name: "max_execution_time", initial: fixed("0"), isInteger: true, set: setMaxExecutionTime,
		doc: "milliseconds after which a statement is cancelled; 0: never",
	},
	{name: "gtid_purged", initial: fixed(""), doc: "dumps set it; it means nothing"},
	{name: "net_write_timeout", initial: fixed("60"), isInteger: true},
	{
		name: "radish_device", initial: func(e *Engine) string { return string(e.opts.Device) }, set: setDevice,
		doc: "where pipelines run: cpu; gpu (all that can; an error if there is none); gpu_strict (an error if one cannot); " +
			"auto: as estimated",
	},
	{
		name: "radish_disabled_rules", initial: fixed(""), set: setDisabledRules,
		doc: "names of rewrite rules to leave out, separated by commas",
	},
	{
		name: "radish_file_access", initial: func(e *Engine) string { return e.access.String() }, of: func(v *variables) string { return v.access.String() }, set: setFileAccess,
		doc: "the files that statements may use: full, read, none, or folders (read:FOLDER only reads), and addresses; a session can narrow it, never widen it",
	},
	{
		name: gpuDevices, initial: fixed(gpu.AllDevices), set: setGPUDevices,
		doc: "the GPUs of queries: all that can work with the first one, or numbers such as '0,1'; the first of them has the results",
	},
	{
		name: "radish_gpu_join_bits", initial: fixed("0"), isInteger: true, set: setOrZero("radish_gpu_join_bits", gpu.LeastPartitionBits, gpu.MostPartitionBits),
		doc: "bits of the key by which a GPU partitions the rows of a join in a pass, 5 to 9 (8 in two passes); 0: as many as the rows need",
	},
	{
		name: gpuJoinPartitions, initial: fixed(string(gpu.PartitionsByCost)), set: setJoinPartitions,
		doc: "joins on a GPU that have both sides in partitions of their keys: auto, those for which that costs less; always, all that can; never",
	},
	{
		name: "radish_gpu_join_passes", initial: fixed("0"), isInteger: true, set: setOrZero("radish_gpu_join_passes", 1, 2),
		doc: "passes in which a GPU partitions the rows of a join, 1 or 2; 0: as many as the rows need",
	},
	{
		name: gpuJoinSorted, initial: fixed(string(gpu.SortedByHint)), set: setJoinSorted,
		doc: "joins on a GPU that have both sides sorted by their keys and merged: hint, those that a hint MERGE_JOIN asks for; always, all that can; never",
	},
	{
		name: "radish_gpu_memory_limit", initial: fixed("0"), set: setBytes("radish_gpu_memory_limit"),
		doc: "bytes of each GPU's memory that one query may hold beside table columns (KB, MB, GB are understood); 0: as many as there are",
	},
	{
		name: gpuShare, initial: fixed(string(gpu.ShareByCost)), set: setShare,
		doc: "queries that several GPUs share: auto, those that are expected to gain by it; always, all that can; never",
	},
	{
		name: "radish_gpu_table_memory", initial: fixed("0"), set: setBytes("radish_gpu_table_memory"),
		doc: "bytes of each GPU's memory that table columns may take (KB, MB, GB are understood): larger tables are read in windows; 0: as many as there are",
	},
	{
		name: "radish_gpu_total_memory_limit", initial: func(e *Engine) string { return strconv.FormatInt(e.opts.GPUMemoryLimit, 10) }, isInteger: true, readOnly: true,
		doc: "bytes of each GPU's memory that all queries and table columns may hold together: gpu_memory_limit of the database's name; 0: as many as there are",
	},
	{
		name: "radish_memory_limit", initial: fixed("0"), set: setBytes("radish_memory_limit"),
		doc: "bytes that one query may hold (KB, MB, GB are understood); 0: no bound of its own",
	},
	{
		name: "radish_threads", initial: func(e *Engine) string { return strconv.Itoa(e.opts.Threads) }, isInteger: true, set: setThreads,
		doc: "workers of a query",
	},
	{
		name: explainFormat, initial: fixed(formatPipelines), set: setExplainFormat,
		doc: "what EXPLAIN without FORMAT shows: pipelines; tree, the shell's choice; json",
	},
	{
		name: unsetVariables, initial: fixed(unsetNull), set: setUnsetVariables,
		doc: "what reading a user variable gives that nothing has set: null, as in MySQL; warn, NULL and a warning; error, the shell's choice for scripts",
	},
	{
		name:    "sql_mode",
		initial: fixed("ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"),
		set:     setSQLMode,
		doc:     "as in MySQL",
	},
	{
		name: "sql_safe_updates", initial: fixed("0"), isBoolean: true,
		doc: "1: UPDATE and DELETE without LIMIT need a WHERE that compares the first column of an index (1175)",
	},
	{
		name: "sql_select_limit", initial: fixed("18446744073709551615"), isInteger: true, set: setSelectLimit,
		doc: "rows that a SELECT without LIMIT gives at most; not in subqueries, INSERT ... SELECT and the like",
	},
	{name: "system_time_zone", initial: fixed("UTC"), readOnly: true},
	{name: "time_zone", initial: fixed("SYSTEM"), set: setTimeZone, doc: "SYSTEM, +hh:mm, or a name of the IANA database"},
	{
		name: "transaction_isolation", initial: fixed(repeatableRead), set: setIsolation,
		doc: "of transactions that begin from now on: READ-UNCOMMITTED and READ-COMMITTED are served as REPEATABLE-READ, a snapshot; SERIALIZABLE is what it says",
	},
	{name: "transaction_read_only", initial: fixed("0"), isBoolean: true, doc: "1: transactions may not write"},
	{
		name: "block_encryption_mode", initial: fixed("aes-128-ecb"), set: setEncryptionMode,
		doc: "of AES_ENCRYPT and AES_DECRYPT: aes-, 128, 192 or 256, and -ecb, -cbc, -ofb or -cfb128",
	},
	{name: "unique_checks", initial: fixed("1"), isBoolean: true, doc: "dumps set it; unique keys are enforced whatever it is"},
	{
		name: "foreign_key_checks", initial: fixed("1"), isBoolean: true,
		doc: "0: what is written is neither checked against foreign keys nor do they change other rows, and tables that others refer to can be dropped",
	},
	{name: "version", initial: fixed(MySQLVersion), readOnly: true},
	{name: "version_comment", initial: fixed("Radish " + Version), readOnly: true},
	{name: "sql_log_bin", initial: fixed("1"), isBoolean: true, doc: "dumps set it; it means nothing"},
	{name: "sql_notes", initial: fixed("1"), isBoolean: true, doc: "0: notes are not kept among the warnings"},
	{name: "wait_timeout", initial: fixed("28800"), isInteger: true},
	{name: "interactive_timeout", initial: fixed("28800"), isInteger: true},
}

// systemVariables lists every variable, in the order of the names.
var systemVariables = sortedVariables(ownVariables, toolVariables)

// VariableNames lists the names of all variables, in their order.
func VariableNames() []string {
	names := make([]string, len(systemVariables))
	for i := range systemVariables {
		names[i] = systemVariables[i].name
	}
	return names
}

var variableByName = func() map[string]*variable {
	m := map[string]*variable{}
	for i := range systemVariables {
		m[systemVariables[i].name] = &systemVariables[i]
	}
	return m
}()

// variables are a session's settings.
type variables struct {
	engine  *Engine
	session *Session
	values  map[string]string // of variables that were set; the others have their initial value

	parseMode     parse.Mode
	exprMode      expr.SQLMode
	location      *time.Location
	stopped       time.Time // the moment that SET timestamp gave; zero: none
	disabledRules map[string]bool
	changes       int      // counts what was set
	digested      struct { // see digest
		changes int
		text    string
	}
	access *fileaccess.Policy // the files that statements may use
	gpus   []int              // of radish_gpu_devices; nil: all
}

func (v *variables) init(e *Engine) {
	v.engine = e
	v.values = map[string]string{}
	v.parseMode = parse.DefaultMode
	v.exprMode = expr.DefaultSQLMode
	v.location = time.Local
	v.access = e.access
}

func (v *variables) get(def *variable) string {
	if def.of != nil {
		return def.of(v)
	}
	if s, ok := v.values[def.name]; ok {
		return s
	}
	return def.initial(v.engine)
}

// digest writes what was set: two sessions of an engine with the same digest have the same variables.
func (v *variables) digest() string {
	if v.digested.changes != v.changes {
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(v.values)) {
			fmt.Fprintf(&b, "%s=%d:%s;", name, len(v.values[name]), v.values[name])
		}
		v.digested.changes, v.digested.text = v.changes, b.String()
	}
	return v.digested.text
}

// shown returns the value as SHOW VARIABLES writes it.
func (v *variables) shown(def *variable) string {
	s := v.get(def)
	if def.isBoolean {
		return map[string]string{"0": "OFF", "1": "ON"}[s]
	}
	return s
}

// canonicalName returns the name of a system variable, which may have an older one besides.
func canonicalName(name string) string {
	switch name = strings.ToLower(name); name {
	case "tx_isolation", "tx_read_only":
		return "transaction" + strings.TrimPrefix(name, "tx")
	}
	return name
}

// SystemVariable returns the value of @@name.
func (v *variables) SystemVariable(name string) (types.Value, bool) {
	def, ok := variableByName[canonicalName(name)]
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
func (v *variables) UserVariable(name string) (types.Value, bool) {
	x, ok := v.session.values.variables[strings.ToLower(name)]
	return x, ok
}

// Suggest implements [expr.Variables].
func (v *variables) Suggest(name string) string {
	if _, ours := variableByName["radish_"+canonicalName(name)]; ours {
		return "radish_" + canonicalName(name)
	}
	return sqlerr.Suggest(name, slices.Sorted(maps.Keys(variableByName)))
}

// longestSetting is how many bytes the value of a system variable may have.
const longestSetting = 64 << 10

// setSystem gives a system variable a value.
func (v *variables) setSystem(name, value string) error {
	def, ok := variableByName[canonicalName(name)]
	if !ok {
		return sqlerr.UnknownVariable(name, v.Suggest(name))
	}
	if def.readOnly {
		return sqlerr.ReadOnlyVariable(def.name)
	}
	if len(value) > longestSetting {
		return sqlerr.WrongValueForVar(def.name, value).WithHint("it has %d bytes, and a setting %d at most", len(value), longestSetting)
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
			return sqlerr.WrongValueForVar(def.name, value)
		}
	}
	if def.set != nil {
		var err error
		if value, err = def.set(v, value); err != nil {
			return err
		}
	}
	v.changes++
	v.values[def.name] = strings.Clone(value) // not the statement that it is a piece of
	return nil
}

func (v *variables) integer(name string) int64 {
	n, _ := strconv.ParseInt(v.get(variableByName[name]), 10, 64)
	return n
}

func (v *variables) maxExecutionTime() time.Duration {
	return time.Duration(v.integer("max_execution_time")) * time.Millisecond
}

func (v *variables) threads(*Engine) int { return int(v.integer("radish_threads")) }

// memoryLimit is what one query may hold; 0: no bound but the engine's.
func (v *variables) memoryLimit() int64 { return v.integer("radish_memory_limit") }

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

// applyHints sets the variables that the SET_VAR and MAX_EXECUTION_TIME hints of a SELECT name, and returns the function
// that takes them back.
func (s *Session) applyHints(n ast.StmtNode) (restore func(), err error) {
	if x, ok := n.(*ast.ExplainStmt); ok {
		n = x.Stmt
	}
	sel, ok := n.(*ast.SelectStmt)
	if !ok {
		return func() {}, nil
	}
	saved := s.vars
	copied := false
	restore = func() {
		if copied {
			s.vars = saved
		}
	}
	for _, h := range sel.TableHints {
		var set ast.HintSetVar
		switch data := h.HintData.(type) {
		case ast.HintSetVar:
			set = data
		case uint64:
			if h.HintName.L != "max_execution_time" {
				continue
			}
			set = ast.HintSetVar{VarName: h.HintName.L, Value: strconv.FormatUint(data, 10)}
		default:
			continue
		}
		if !copied {
			copied = true
			values := make(map[string]string, len(saved.values))
			for k, v := range saved.values {
				values[k] = v
			}
			s.vars.values = values
		}
		if err := s.vars.setSystem(set.VarName, set.Value); err != nil {
			restore()
			return nil, err
		}
	}
	return restore, nil
}
