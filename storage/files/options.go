package files

import (
	"slices"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/csv"
	"github.com/radish-sql/radish/storage/textfile"
)

// Options of the functions that name files have the names that DuckDB gives them.

// argument is the value of an option: a text, ['a', 'b'] or {'a': 'b'}.
type argument struct {
	text  string
	isSet bool // it is a list or has keys
	keys  []string
	list  []string
}

// argument reads the value of an option.
func (p *arguments) argument() (a argument, err error) {
	end := byte(']')
	switch {
	case p.skip('['):
	case p.skip('{'):
		end = '}'
	default:
		a.text, _, err = p.value()
		return a, err
	}
	for a.isSet = true; !p.skip(end); {
		if len(a.list) > 0 && !p.skip(',') {
			return a, p.wrong("expected , or %c before '%s'", end, p.text)
		}
		var text string
		if text, err = p.quoted(); err != nil {
			return a, err
		}
		if end == '}' {
			if !p.skip(':') {
				return a, p.wrong("expected : behind '%s'", text)
			}
			a.keys = append(a.keys, text)
			if text, err = p.quoted(); err != nil {
				return a, err
			}
		}
		a.list = append(a.list, text)
	}
	return a, nil
}

// quoted reads a text in quotes.
func (p *arguments) quoted() (string, error) {
	text, quoted, err := p.value()
	if err == nil && !quoted {
		err = p.wrong("expected a text in quotes instead of %s", text)
	}
	return text, err
}

// option is an option of functions that name files.
type option struct {
	name    string
	aliases []string
	formats []Format // that have it; nil: all
	set     func(s *Source, key string, a argument) error
}

var texts = []Format{CSV, JSON, JSONLines}

// options are all options, in the order in which messages name them.
var options []option

func init() {
	only := []Format{CSV}
	options = []option{
		{"header", nil, only, flag(func(s *Source, yes bool) {
			if s.CSV.Header = csv.HeaderNo; yes {
				s.CSV.Header = csv.HeaderYes
			}
		})},
		{"delim", []string{"sep", "delimiter"}, only, func(s *Source, key string, a argument) error {
			s.asked = true
			return one(key, a.text, &s.CSV.Delimiter)
		}},
		{"quote", nil, only, func(s *Source, key string, a argument) error {
			if s.CSV.NoQuote = a.text == ""; s.CSV.NoQuote {
				return nil
			}
			return one(key, a.text, &s.CSV.Quote)
		}},
		{"escape", nil, only, func(s *Source, key string, a argument) error {
			if a.text == "" {
				return nil // doubled quotes, as without the option
			}
			return one(key, a.text, &s.CSV.Escape)
		}},
		{"nullstr", []string{"null"}, only, func(s *Source, _ string, a argument) error {
			if s.CSV.NullText = a.text; len(a.list) > 0 {
				s.CSV.NullText, s.CSV.NullTexts = a.list[0], a.list[1:]
			}
			return nil
		}},
		{"skip", nil, only, func(s *Source, key string, a argument) (err error) {
			if s.CSV.Skip, err = strconv.Atoi(a.text); err != nil || s.CSV.Skip < 0 {
				return optionError(key + " is a number of lines, not '" + a.text + "'")
			}
			return nil
		}},
		{"comment", nil, only, func(s *Source, key string, a argument) error { return one(key, a.text, &s.CSV.Comment) }},
		{"types", []string{"dtypes", "column_types"}, only, setTypes},
		{"columns", nil, texts, setColumns},
		{"names", []string{"column_names"}, only, setNames},
		{"dateformat", []string{"date_format"}, texts, func(s *Source, key string, a argument) error {
			s.CSV.DateFormat, s.JSON.Dates.Date = a.text, a.text
			return checkFormat(key, a.text)
		}},
		{"timestampformat", []string{"timestamp_format"}, texts, func(s *Source, key string, a argument) error {
			s.CSV.TimestampFormat, s.JSON.Dates.Timestamp = a.text, a.text
			return checkFormat(key, a.text)
		}},
		{"decimal_separator", nil, only, func(s *Source, key string, a argument) error { return one(key, a.text, &s.CSV.Decimal) }},
		{"thousands", nil, only, func(s *Source, key string, a argument) error { return one(key, a.text, &s.CSV.Thousands) }},
		{"ignore_errors", nil, []Format{CSV, JSONLines}, flag(func(s *Source, yes bool) { s.CSV.IgnoresErrors, s.JSON.IgnoresErrors = yes, yes })},
		{"rejects", nil, only, flag(func(s *Source, yes bool) {
			s.CSV.Rejects = yes
			s.CSV.IgnoresErrors = s.CSV.IgnoresErrors || yes
		})},
		{"null_padding", nil, only, flag(func(s *Source, yes bool) { s.CSV.PadsNulls = yes })},
		{"encoding", nil, only, func(s *Source, key string, a argument) error {
			if s.CSV.Encoding = a.text; !csv.KnowsEncoding(a.text) {
				return optionError("the encoding '" + a.text + "' is not known; known are " + csv.Encodings())
			}
			return nil
		}},
		{"all_varchar", nil, only, flag(func(s *Source, yes bool) { s.CSV.AllText = yes })},
		{"sample_size", nil, texts, func(s *Source, key string, a argument) error {
			if s.AllRows = a.text == "-1"; !s.AllRows {
				return optionError(key + " is -1, which looks at all rows, not '" + a.text + "'")
			}
			return nil
		}},
		{"hive_partitioning", nil, nil, flag(func(s *Source, yes bool) { s.NoPartitions = !yes })},
		{"union_by_name", nil, nil, match(Union)},
		{"by_position", nil, nil, match(ByPosition)},
	}
}

// setColumns sets the option columns: names and types; of JSON the keys that are read.
func setColumns(s *Source, key string, a argument) error {
	if len(a.keys) == 0 {
		return optionError("columns are written as columns = {'id': 'BIGINT', 'day': 'DATE'}")
	}
	if s.Format != CSV {
		s.JSON.Names = a.keys
		for i, name := range a.keys {
			if slices.Contains(a.keys[:i], name) {
				return optionError(key + " names '" + name + "' twice")
			}
			t, err := typeOption(key, a.list[i])
			if err != nil {
				return err
			}
			s.JSON.Types = append(s.JSON.Types, t)
		}
		return nil
	}
	s.CSV.Names = a.keys
	a.keys = nil
	return setTypes(s, key, a)
}

// typeOption returns the type that an option names.
func typeOption(key, name string) (types.Type, error) {
	t, ok := typeNamed(name)
	if !ok {
		return t, optionError("'" + name + "' is no type that " + key + " can give; known are " + typeNames)
	}
	return t, nil
}

// setNames sets the option names.
func setNames(s *Source, key string, a argument) error {
	if !a.isSet || len(a.keys) > 0 {
		return optionError(key + " are written as names = ['id', 'day']")
	}
	s.CSV.Names = a.list
	return nil
}

// set sets an option.
func (s *Source) set(key string, value argument) error {
	var known []string
	for _, o := range options {
		if o.formats != nil && !slices.Contains(o.formats, s.Format) {
			continue
		}
		if key == o.name || slices.Contains(o.aliases, key) {
			return o.set(s, key, value)
		}
		known = append(known, o.name)
	}
	return optionError("there is no option " + key + "; known are " + strings.Join(known[:len(known)-1], ", ") + " and " + known[len(known)-1])
}

// flag returns what sets an option that is true or false.
func flag(set func(s *Source, yes bool)) func(s *Source, key string, a argument) error {
	return func(s *Source, key string, a argument) error {
		switch strings.ToLower(a.text) {
		case "true", "1":
			set(s, true)
			return nil
		case "false", "0":
			set(s, false)
			return nil
		}
		return optionError(key + " is true or false, not '" + a.text + "'")
	}
}

// match returns what sets how the columns of files are matched.
func match(to Match) func(s *Source, key string, a argument) error {
	return func(s *Source, key string, a argument) error {
		contradicts := false
		err := flag(func(s *Source, yes bool) {
			if yes {
				contradicts = s.Match != ByName && s.Match != to
				s.Match = to
			}
		})(s, key, a)
		if contradicts {
			return optionError("union_by_name and by_position exclude each other")
		}
		return err
	}
}

func checkFormat(key, format string) error {
	if wrong := textfile.CheckDateForm(format); wrong != "" {
		return optionError(key + " '" + format + "': " + wrong)
	}
	return nil
}

func setTypes(s *Source, key string, a argument) error {
	if !a.isSet {
		return optionError(key + " are written as types = {'price': 'DECIMAL(10,2)'} or types = ['BIGINT', 'DATE']")
	}
	for i, name := range a.list {
		t, err := typeOption(key, name)
		if err != nil {
			return err
		}
		if len(a.keys) == 0 {
			s.CSV.TypeList = append(s.CSV.TypeList, t)
			continue
		}
		if s.CSV.Types == nil {
			s.CSV.Types = map[string]types.Type{}
		}
		s.CSV.Types[strings.ToLower(a.keys[i])] = t
	}
	return nil
}

const typeNames = "BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, each but the first with UNSIGNED, FLOAT, DOUBLE, DECIMAL(p,s), DATE, TIME, DATETIME, TIMESTAMP, TEXT, VARCHAR(n), BLOB and JSON"

// plainTypes are the types that have no arguments, by MySQL's names and DuckDB's.
var plainTypes = map[string]types.Type{
	"BOOLEAN": types.Bool, "BOOL": types.Bool, "LOGICAL": types.Bool,
	"TINYINT": types.Int8, "SMALLINT": types.Int16, "INT": types.Int32, "INTEGER": types.Int32, "BIGINT": types.Int64,
	"TINYINT UNSIGNED": types.Uint8, "SMALLINT UNSIGNED": types.Uint16, "INT UNSIGNED": types.Uint32, "INTEGER UNSIGNED": types.Uint32, "BIGINT UNSIGNED": types.Uint64,
	"UTINYINT": types.Uint8, "USMALLINT": types.Uint16, "UINTEGER": types.Uint32, "UBIGINT": types.Uint64,
	"FLOAT": types.Float, "REAL": types.Double, "DOUBLE": types.Double, "DECIMAL": types.Decimal(18, 3), "NUMERIC": types.Decimal(18, 3),
	"DATE": types.Date, "TIME": types.TimeFsp(6), "DATETIME": types.DatetimeFsp(6), "TIMESTAMP": types.DatetimeFsp(6),
	"TEXT": types.Text, "VARCHAR": types.Text, "CHAR": types.Text, "STRING": types.Text, "BLOB": types.Blob, "JSON": types.JSON,
}

// maxVarchar is the most characters that a VARCHAR has.
const maxVarchar = 65535

// typeNamed returns the type that a text names.
func typeNamed(text string) (t types.Type, ok bool) {
	name, rest, sized := strings.Cut(strings.ToUpper(strings.Join(strings.Fields(text), " ")), "(")
	if !sized {
		t, ok = plainTypes[name]
		return t, ok
	}
	var numbers []int
	for _, part := range strings.Split(strings.TrimSuffix(rest, ")"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 0 {
			return t, false
		}
		numbers = append(numbers, n)
	}
	if !strings.HasSuffix(rest, ")") {
		return t, false
	}
	switch name = strings.TrimSpace(name); {
	case (name == "DECIMAL" || name == "NUMERIC") && len(numbers) == 1:
		numbers = append(numbers, 0)
		fallthrough
	case (name == "DECIMAL" || name == "NUMERIC") && len(numbers) == 2:
		p, s := numbers[0], numbers[1]
		return types.Decimal(p, s), p >= 1 && p <= types.MaxDecimalPrecision && s <= types.MaxDecimalScale && s <= p
	case len(numbers) != 1:
		return t, false
	case name == "VARCHAR" || name == "CHAR":
		return types.Varchar(numbers[0]), numbers[0] <= maxVarchar
	case name == "TIME":
		return types.TimeFsp(numbers[0]), numbers[0] <= 6
	case name == "DATETIME", name == "TIMESTAMP":
		return types.DatetimeFsp(numbers[0]), numbers[0] <= 6
	}
	return t, false
}

// optionError is an error of an option, without its position, which arguments.wrong adds.
type optionError string

func (e optionError) Error() string { return string(e) }

func one(key, value string, to *byte) error {
	if value == `\t` {
		value = "\t"
	}
	if len(value) != 1 {
		return optionError(key + " is one ASCII character, not '" + value + "'")
	}
	*to = value[0]
	return nil
}
