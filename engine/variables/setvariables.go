package variables

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/planner/rules"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// setCollation takes the name of a collation of text.
func setCollation(_ *Settings, value string) (string, error) {
	c, err := expr.ParseStringCollation(value)
	return c.String(), err
}

// Collation returns the value of a variable that holds a collation, utf8mb4_bin unless it was set.
func (v *Settings) Collation(name string) types.Collation {
	c, _ := types.CollationByName(v.Values[name])
	return c
}

// collationDatabase is the value of @@collation_database.
func collationDatabase(v *Settings) string {
	return v.of.DatabaseCollation().String()
}

// ExplainFormat is the system variable that says what EXPLAIN without FORMAT shows.
const (
	ExplainFormat   = "explain_format"
	FormatPipelines = "pipelines"
)

func setExplainFormat(_ *Settings, value string) (string, error) {
	switch value = strings.ToLower(value); value {
	case "tree", FormatPipelines, "json":
		return value, nil
	case "traditional":
		return FormatPipelines, nil
	}
	return "", sqlerr.WrongValueForVar(ExplainFormat, value).WithHint("the values are tree, pipelines and json")
}

// setSwitch takes 0 or 1; ON, OFF, TRUE and FALSE have become those.
func setSwitch(name string) func(*Settings, string) (string, error) {
	return func(_ *Settings, value string) (string, error) {
		if value != "0" && value != "1" {
			return "", sqlerr.WrongValueForVar(name, value)
		}
		return value, nil
	}
}

func setFileAccess(v *Settings, value string) (string, error) {
	narrower, err := v.Access.Narrow(value)
	if err != nil {
		return "", err
	}
	v.Access = narrower
	return narrower.String(), nil
}

// noTempFolder says that statements write no temporary files.
const noTempFolder = "none"

// setTempFolder takes folders that may be written to.
func setTempFolder(v *Settings, value string) (string, error) {
	if value == "" || value == noTempFolder {
		return value, nil
	}
	if err := v.Access.CheckWriting(value); err != nil {
		return "", err
	}
	if info, err := v.Access.Stat(context.Background(), value); err != nil || !info.IsDir() {
		return "", sqlerr.WrongValueForVar("radish_temp_folder", value).WithHint("it is a folder that is there, '' for the system's, or none")
	}
	return value, nil
}

func setEncryptionMode(_ *Settings, value string) (string, error) {
	mode := strings.ToLower(value)
	var bits int
	var feedback string
	if n, _ := fmt.Sscanf(mode, "aes-%d-%s", &bits, &feedback); n == 2 && (bits == 128 || bits == 192 || bits == 256) {
		switch feedback {
		case "ecb", "cbc", "ofb", "cfb128":
			return mode, nil
		}
	}
	return "", sqlerr.WrongValueForVar("block_encryption_mode", value)
}

func onlyUTF8(name string) func(*Settings, string) (string, error) {
	return func(_ *Settings, value string) (string, error) {
		switch strings.ToLower(value) {
		case "utf8mb4", "utf8", "utf8mb3", "binary", "":
			return value, nil
		}
		return "", sqlerr.NotSupportedf("SET "+name+" = "+value, "all text is utf8mb4")
	}
}

func setMaxExecutionTime(_ *Settings, value string) (string, error) {
	if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < 0 {
		return "", sqlerr.WrongValueForVar("max_execution_time", value)
	}
	return value, nil
}

// These, which are no rewrite rules, can be switched off as if they were.
const (
	RuntimeFilters = "runtime_filters"
	DirectQueries  = "direct_queries"
)

// switches are these and PlanSharing.
var switches = []string{RuntimeFilters, DirectQueries, PlanSharing}

func setDisabledRules(v *Settings, value string) (string, error) {
	disabled := map[string]bool{}
	known := slices.Clone(switches)
	for _, r := range rules.List() {
		if !r.Required && !slices.Contains(known, r.Name) {
			known = append(known, r.Name)
		}
	}
	for _, name := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }) {
		name = strings.ToLower(name)
		if !slices.Contains(known, name) {
			e := sqlerr.WrongValueForVar("radish_disabled_rules", name)
			if s := sqlerr.Suggest(name, known); s != "" {
				return "", e.WithHint("did you mean %s?", s)
			}
			return "", e.WithHint("the rules are %s", strings.Join(known, ", "))
		}
		disabled[name] = true
	}
	v.DisabledRules = disabled
	return value, nil
}

// setBytes takes a number of bytes, perhaps with a unit.
func setBytes(name string) func(*Settings, string) (string, error) {
	return func(_ *Settings, value string) (string, error) {
		n, err := ParseBytes(value)
		if err != nil {
			return "", sqlerr.WrongValueForVar(name, value).WithHint("write a number of bytes, or one with KB, MB, GB")
		}
		return strconv.FormatInt(n, 10), nil
	}
}

// GPUJoinPartitions names the variable that says which joins are partitioned.
const GPUJoinPartitions = "radish_gpu_join_partitions"

func setJoinPartitions(_ *Settings, value string) (string, error) {
	switch value = strings.ToLower(value); gpu.Partitioning(value) {
	case gpu.PartitionsByCost, gpu.PartitionsAlways, gpu.PartitionsNever:
		return value, nil
	}
	return "", sqlerr.WrongValueForVar(GPUJoinPartitions, value).WithHint("the values are auto, always and never")
}

// GPUJoinSorted names the variable that says which joins are sorted and merged.
const GPUJoinSorted = "radish_gpu_join_sorted"

func setJoinSorted(_ *Settings, value string) (string, error) {
	switch value = strings.ToLower(value); gpu.Sorting(value) {
	case gpu.SortedByHint, gpu.SortedAlways, gpu.SortedNever:
		return value, nil
	}
	return "", sqlerr.WrongValueForVar(GPUJoinSorted, value).WithHint("the values are hint, always and never")
}

// GPUShare names the variable that says which queries several GPUs share.
const GPUShare = "radish_gpu_share"

func setShare(_ *Settings, value string) (string, error) {
	switch value = strings.ToLower(value); gpu.Share(value) {
	case gpu.ShareByCost, gpu.ShareAlways, gpu.ShareNever:
		return value, nil
	}
	return "", sqlerr.WrongValueForVar(GPUShare, value).WithHint("the values are auto, always and never")
}

// setOrZero takes whole numbers between two, or 0.
func setOrZero(name string, least, most int) func(*Settings, string) (string, error) {
	return func(_ *Settings, value string) (string, error) {
		if n, err := strconv.Atoi(value); err != nil || n != 0 && (n < least || n > most) {
			return "", sqlerr.WrongValueForVar(name, value).WithHint("it is 0, or lies between %d and %d", least, most)
		}
		return value, nil
	}
}

// MaxThreads is the largest number of workers that a query may be given.
const MaxThreads = 1024

func setThreads(_ *Settings, value string) (string, error) {
	if n, err := strconv.Atoi(value); err != nil || n < 1 || n > MaxThreads {
		return "", sqlerr.WrongValueForVar("radish_threads", value).WithHint("it lies between 1 and %d", MaxThreads)
	}
	return value, nil
}

func setTimeZone(v *Settings, value string) (string, error) {
	loc, err := parseTimeZone(value)
	if err != nil {
		return "", sqlerr.WrongValueForVar("time_zone", value).WithHint("write SYSTEM, +hh:mm, or a name such as Europe/Berlin")
	}
	v.Location = loc
	return value, nil
}

func parseTimeZone(value string) (*time.Location, error) {
	if strings.EqualFold(value, "SYSTEM") {
		return time.Local, nil
	}
	if len(value) > 0 && (value[0] == '+' || value[0] == '-') {
		var h, m int
		if _, err := fmt.Sscanf(value[1:], "%d:%d", &h, &m); err != nil || h > 14 || m > 59 {
			return nil, fmt.Errorf("time zone offset %q", value)
		}
		offset := h*3600 + m*60
		if value[0] == '-' {
			offset = -offset
		}
		return time.FixedZone(value, offset), nil
	}
	return time.LoadLocation(value)
}

// modeFlags pairs the parser's sql_mode flags with those that evaluation knows.
var modeFlags = []struct {
	parse parse.Mode
	expr  expr.SQLMode
}{
	{mysql.ModeStrictTransTables, expr.ModeStrict}, {mysql.ModeStrictAllTables, expr.ModeStrict},
	{mysql.ModeErrorForDivisionByZero, expr.ModeErrorForDivByZero},
	{mysql.ModeNoZeroDate, expr.ModeNoZeroDate}, {mysql.ModeNoZeroInDate, expr.ModeNoZeroInDate},
	{mysql.ModeAllowInvalidDates, expr.ModeAllowInvalidDates}, {mysql.ModeNoUnsignedSubtraction, expr.ModeNoUnsignedSub},
	{mysql.ModeOnlyFullGroupBy, expr.ModeOnlyFullGroupBy}, {mysql.ModeANSIQuotes, expr.ModeANSIQuotes},
	{mysql.ModePipesAsConcat, expr.ModePipesAsConcat}, {mysql.ModeNoBackslashEscapes, expr.ModeNoBackslashEscapes},
	{mysql.ModeHighNotPrecedence, expr.ModeHighNotPrecedence}, {mysql.ModeNoAutoValueOnZero, expr.ModeNoAutoValueOnZero},
}

func setSQLMode(v *Settings, value string) (string, error) {
	mode, err := parse.ParseMode(value)
	if err != nil {
		return "", err
	}
	v.ParseMode, v.ExprMode = mode, 0
	for _, f := range modeFlags {
		if mode&f.parse != 0 {
			v.ExprMode |= f.expr
		}
	}
	return strings.ToUpper(value), nil
}

// PlanSharing is the name by which radish_disabled_rules has every statement planned anew.
const PlanSharing = "kept_plans"

// The isolation levels as the system variable names them.
const (
	readUncommitted = "READ-UNCOMMITTED"
	readCommitted   = "READ-COMMITTED"
	repeatableRead  = "REPEATABLE-READ"
	Serializable    = "SERIALIZABLE"
)

// SetIsolation takes the name of an isolation level. The weaker ones are served by a snapshot, which shows less.
func SetIsolation(_ *Settings, value string) (string, error) {
	level := strings.ReplaceAll(strings.ToUpper(strings.TrimSpace(value)), " ", "-")
	switch level {
	case readUncommitted, readCommitted, repeatableRead, Serializable:
		return level, nil
	}
	return "", sqlerr.WrongValueForVar("transaction_isolation", value).
		WithHint("the levels are %s, %s, %s and %s", readUncommitted, readCommitted, repeatableRead, Serializable)
}

// UnsetVariables is the system variable that says what reading a user variable means that nothing has set.
const UnsetVariables = "radish_unset_variables"

// Its values.
const (
	UnsetNull  = "null" // as in MySQL
	UnsetWarn  = "warn"
	unsetError = "error"
)

func setUnsetVariables(_ *Settings, value string) (string, error) {
	switch value = strings.ToLower(value); value {
	case UnsetNull, UnsetWarn, unsetError:
		return value, nil
	}
	return "", sqlerr.WrongValueForVar(UnsetVariables, value).WithHint("the values are null, warn and error")
}
