package files

import (
	"context"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/csv"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/textfile"
)

// CSVOptions returns the options for a text file that its name tells.
func CSVOptions(name string) csv.Options {
	_, delimiter := lookUp(textfile.Trim(name))
	return csv.Options{Delimiter: delimiter}
}

// Expand returns the files that a name or pattern stands for, sorted; an error if there is none, or the policy refuses to look.
func Expand(ctx context.Context, policy *fileaccess.Policy, pattern string) ([]string, error) {
	if fileaccess.IsRemote(pattern) && !fileaccess.IsPattern(pattern) {
		return []string{pattern}, fileaccess.Readable(pattern)
	}
	if !strings.ContainsAny(pattern, "*?[") {
		return []string{pattern}, nil
	}
	remote := fileaccess.IsRemote(pattern)
	if !remote {
		if _, err := policy.Stat(ctx, pattern); err == nil {
			return []string{pattern}, nil // a file whose name has such a character in it
		}
	}
	paths, err := policy.Glob(ctx, pattern)
	if fileaccess.Refused(err) || remote && err != nil {
		return nil, err
	}
	if err != nil {
		return nil, sqlerr.New(sqlerr.CodeFileNotFound, sqlerr.User, "'%s' is no valid pattern of file names", pattern)
	}
	if len(paths) == 0 {
		return nil, sqlerr.New(sqlerr.CodeFileNotFound, sqlerr.User, "no file matches '%s'", fileaccess.Shown(pattern))
	}
	return paths, nil
}
