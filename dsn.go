package radish

import (
	"errors"
	"net/url"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// config is what a data source name and options ask for.
type config struct {
	name        string // "": a private database
	threads     int    // 0: as many as CPUs
	memoryLimit int64  // bytes; -1: not given
	gpuLimit    int64  // the same of a GPU's memory
	device      string // "": not given
	timeZone    string
	sqlMode     string             // "": not given
	fileAccess  string             // as fileaccess.Parse reads it
	policy      *fileaccess.Policy // what that says when it is opened
}

// Option is a setting of [Open]; it goes before the same option in the name.
type Option func(*config)

// WithThreads sets the number of workers of a query; 0: as many as there are CPUs for the program.
func WithThreads(n int) Option { return func(c *config) { c.threads = n } }

// WithMemoryLimit bounds what the database may hold at once, tables and running queries, in bytes; 0: no bound. All that open a
// shared database have to agree on it or leave it out.
func WithMemoryLimit(bytes int64) Option { return func(c *config) { c.memoryLimit = bytes } }

// WithGPUMemoryLimit bounds what running queries and the columns that are kept for them may hold at once of a GPU's memory, in bytes; 0: no bound but the GPU's. All that
// open a shared database have to agree on it or leave it out. The GPU is the whole program's: of the limits of several databases the least counts.
func WithGPUMemoryLimit(bytes int64) Option { return func(c *config) { c.gpuLimit = bytes } }

// WithDevice sets the initial radish_device of sessions, which says where queries run: auto, the default, where each is faster; cpu; gpu, whatever
// can run there; or gpu_strict, where a query that needs the CPU is an error. With gpu and gpu_strict, a machine without a usable GPU is an error.
func WithDevice(device string) Option { return func(c *config) { c.device = device } }

// WithTimeZone sets the time zone in which sessions start: SYSTEM, +hh:mm or a name such as Europe/Berlin.
func WithTimeZone(zone string) Option { return func(c *config) { c.timeZone = zone } }

// WithFileAccess says which files the statements of sessions may use: "full", the default, what the process may; "read", reading only; "none"; or
// folders with commas between. Files below these may be read and written, those of a folder that begins with "read:" only read ("/data/in,read:/data/ref").
// What may be read from a network is named besides, by what addresses begin with: "full,https://host/folder/", "full,s3://bucket/folder/".
// Sessions can narrow that by SET radish_file_access, and never widen it.
func WithFileAccess(access string) Option { return func(c *config) { c.fileAccess = access } }

// dsnOptions are the options of a data source name.
var dsnOptions = map[string]func(c *config, value string) error{
	"threads": func(c *config, value string) (err error) {
		c.threads, err = strconv.Atoi(value)
		return err
	},
	"memory_limit": func(c *config, value string) (err error) {
		c.memoryLimit, err = variables.ParseBytes(value)
		return err
	},
	"gpu_memory_limit": func(c *config, value string) (err error) {
		c.gpuLimit, err = variables.ParseBytes(value)
		return err
	},
	"device":      func(c *config, value string) error { c.device = value; return nil },
	"time_zone":   func(c *config, value string) error { c.timeZone = value; return nil },
	"sql_mode":    func(c *config, value string) error { c.sqlMode = value; return nil },
	"file_access": func(c *config, value string) error { c.fileAccess = value; return nil },
}

func optionNames() []string {
	names := make([]string, 0, len(dsnOptions))
	for n := range dsnOptions {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// parseDSN reads a data source name.
func parseDSN(dsn string) (*config, error) {
	c := &config{memoryLimit: -1, gpuLimit: -1, timeZone: "UTC", fileAccess: "full"}
	name, query, _ := strings.Cut(dsn, "?")
	if name != ":memory:" {
		c.name = name
	}
	if what := otherMeaning(name); what != "" {
		return nil, dsnError("%q looks like %s, but databases are kept in memory only", name, what).
			WithHint("a name is any word; SELECT ... FROM `file` reads files")
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, dsnError("the options %q cannot be read: %v", query, err).WithHint("write name?option=value&option=value")
	}
	for key, list := range values {
		set, ok := dsnOptions[key]
		if !ok {
			e := dsnError("unknown option %q", key)
			if s := sqlerr.Suggest(key, optionNames()); s != "" {
				return nil, e.WithHint("did you mean %s?", s)
			}
			return nil, e.WithHint("the options are %s", strings.Join(optionNames(), ", "))
		}
		if len(list) > 1 {
			return nil, dsnError("option %q is given %d times", key, len(list))
		}
		// An offset's plus sign is a space in a query string.
		value := list[0]
		if key == "time_zone" && strings.HasPrefix(value, " ") {
			value = "+" + value[1:]
		}
		if err := set(c, value); err != nil {
			var number *strconv.NumError
			if errors.As(err, &number) {
				err = number.Err
			}
			return nil, dsnError("option %s has the value %q: %v", key, list[0], err).WithCause(err)
		}
	}
	return c, nil
}

// otherMeaning says what a name means to other drivers: a file or a server. "" if it is a name like any.
func otherMeaning(name string) string {
	for _, begin := range []string{"/", "./", "../", "~", `\`, "file:"} {
		if strings.HasPrefix(name, begin) {
			return "a file"
		}
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".db", ".db3", ".sqlite", ".sqlite3", ".duckdb", ".ddb":
		return "a file"
	}
	if strings.Contains(name, "://") || strings.Contains(name, "@tcp(") || strings.Contains(name, "@unix(") {
		return "a server"
	}
	return ""
}

func dsnError(format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "data source name: "+format, args...)
}
