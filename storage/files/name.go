package files

import (
	"path/filepath"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/csv"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/jsonlines"
	"github.com/radish-sql/radish/storage/textfile"
)

// Source is what a name in FROM stands for: a file or those that match a pattern, and how they are read.
type Source struct {
	Pattern string
	Format  Format // Unknown: the files' names tell, and they have to agree
	Match   Match
	CSV     csv.Options // what is not set the files tell
	JSON    jsonlines.Options
	asked   bool // the CSV's delimiter was named
	AllRows bool // types of texts follow from all rows, not from a sample
	// NoPartitions says that the names of folders are no values of columns.
	NoPartitions bool
}

// Match says which columns of several files make one column.
type Match uint8

const (
	// ByName: those of one name. All files have the columns of the first, in any order.
	ByName Match = iota
	// Union: those of one name. A column that a file lacks is NULL in its rows.
	Union
	// ByPosition: those of one position. All files have as many columns as the first, which names them.
	ByPosition
)

// readers are the functions that a name may call.
var readers = map[string]Format{}

// ParseName takes apart what stands in backticks: the name of a file, a pattern, or a function of one with options,
// read_csv('data/*.csv', union_by_name = true). ok is false if it is neither.
func ParseName(name string) (s Source, ok bool, err error) {
	function, rest, called := strings.Cut(name, "(")
	format, known := readers[strings.ToLower(strings.TrimSpace(function))]
	if !called || !known {
		if err := fileaccess.Readable(name); err != nil {
			return s, false, err
		}
		if FormatOf(name) == Unknown {
			err := Check(name)
			if err == nil && fileaccess.HasQuery(name) {
				err = sqlerr.NotSupportedf("reading '"+fileaccess.Shown(name)+"'", "%s", fileaccess.NoQuery)
			}
			if err == nil && fileaccess.IsRemote(name) {
				why := WhyUnknown(fileaccess.Shown(name))
				if strings.Contains(name, "#") {
					why += "; # in a name is %23 in its address"
				}
				err = sqlerr.NotSupportedf("reading '"+fileaccess.Shown(name)+"'", "%s", why)
			}
			return s, false, err
		}
		return Source{Pattern: name}, true, CheckReading(name)
	}
	s.Format = format
	p := &arguments{text: rest, name: fileaccess.Shown(name)}
	if s.Pattern, err = p.first(); err != nil {
		return s, true, err
	}
	if err := Check(s.Pattern); err != nil {
		return s, true, err
	}
	for !p.ended() {
		key, value, err := p.option()
		if err != nil {
			return s, true, err
		}
		if err := s.set(key, value); err != nil {
			return s, true, p.wrong("%s", err)
		}
	}
	return s, true, nil
}

// arguments reads the arguments of a function in backticks.
type arguments struct {
	text string // what follows
	name string // the whole
}

func (p *arguments) wrong(format string, args ...any) error {
	e := sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, format, args...)
	e.Message = "`" + p.name + "`: " + e.Message
	return e.WithHint("write it as `read_csv('data/*.csv', union_by_name = true)`")
}

// first reads the name of the files.
func (p *arguments) first() (string, error) {
	value, quoted, err := p.value()
	if err == nil && (!quoted || value == "") {
		err = p.wrong("the first argument is the name of a file or a pattern, in quotes")
	}
	return value, err
}

// ended says whether the closing parenthesis is all that follows.
func (p *arguments) ended() bool {
	p.text = strings.TrimSpace(p.text)
	return p.text == ")"
}

// option reads `, key = value`.
func (p *arguments) option() (key string, value argument, err error) {
	if !p.skip(',') {
		return "", value, p.wrong("expected , or ) before '%s'", p.text)
	}
	key, rest, ok := strings.Cut(p.text, "=") // or :=, or =>
	if !ok {
		return "", value, p.wrong("expected option = value before '%s'", p.text)
	}
	p.text = strings.TrimPrefix(rest, ">")
	value, err = p.argument()
	return strings.ToLower(strings.TrimRight(key, ": ")), value, err
}

func (p *arguments) skip(c byte) bool {
	p.text = strings.TrimSpace(p.text)
	if p.text == "" || p.text[0] != c {
		return false
	}
	p.text = strings.TrimSpace(p.text[1:])
	return true
}

// value reads a text in quotes, which are doubled inside, or a word.
func (p *arguments) value() (value string, quoted bool, err error) {
	p.text = strings.TrimSpace(p.text)
	if p.text == "" {
		return "", false, p.wrong("it ends too early: expected a value and )")
	}
	q := p.text[0]
	if q != '\'' && q != '"' {
		end := strings.IndexAny(p.text, ",)")
		if end < 0 {
			return "", false, p.wrong("expected , or ) behind '%s'", p.text)
		}
		value, p.text = strings.TrimSpace(p.text[:end]), p.text[end:]
		return value, false, nil
	}
	var b strings.Builder
	for i := 1; i < len(p.text); i++ {
		if p.text[i] != q {
			b.WriteByte(p.text[i])
			continue
		}
		if i+1 < len(p.text) && p.text[i+1] == q {
			b.WriteByte(q)
			i++
			continue
		}
		p.text = p.text[i+1:]
		return b.String(), true, nil
	}
	return "", false, p.wrong("a quote is not closed")
}

// Title returns what a source's table is called: the name of the file without folder and endings.
func (s *Source) Title() string { return title(s.Pattern) }

// options returns how a text file is read.
func (s *Source) options(path string) csv.Options {
	o := s.CSV
	if !s.asked {
		o.Delimiter = CSVOptions(path).Delimiter
	}
	return o
}

// formatOf returns the format of a file of the source.
func (s *Source) formatOf(path string) Format {
	if s.Format != Unknown {
		return s.Format
	}
	return FormatOf(path)
}

func title(pattern string) string {
	base := textfile.Trim(filepath.Base(fileaccess.PathOf(pattern)))
	return strings.TrimSuffix(base, filepath.Ext(base))
}
