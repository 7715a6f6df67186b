// Package cli has what commands do with their flags.
package cli

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ErrUsage marks errors of the command line; what was wrong has been printed.
var ErrUsage = errors.New("wrong usage")

// Parse parses the flags of a command, which takes no other arguments.
func Parse(fs *flag.FlagSet, args []string) error {
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return ErrUsage
	}
	if fs.NArg() > 0 {
		return WrongUsage(fs, "%q is no flag", fs.Arg(0))
	}
	return nil
}

// WrongUsage prints what is wrong with the command line and returns ErrUsage.
func WrongUsage(fs *flag.FlagSet, format string, args ...any) error {
	fmt.Fprintf(fs.Output(), "radish-bench "+fs.Name()+": "+format+"\n", args...)
	return ErrUsage
}

// MatchesWord says whether name contains one of the words, which are separated by commas; no words are in every name.
func MatchesWord(name, words string) bool {
	for _, w := range strings.Split(words, ",") {
		if strings.Contains(strings.ToLower(name), strings.ToLower(w)) {
			return true
		}
	}
	return false
}

// ParseRows reads numbers of rows, such as 1e7, separated by commas. Each has to lie within bounds.
func ParseRows(text string, least, most int64) (rows []int64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || n < float64(least) || n > float64(most) || n != math.Trunc(n) {
			return nil, fmt.Errorf("%q is no whole number from %d to %d", part, least, most)
		}
		rows = append(rows, int64(n))
	}
	return rows, nil
}
