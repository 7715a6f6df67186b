package sqllogic

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// again asks each query three times, so that the last answer comes from a plan that is kept where there is one, and wants the same rows each time.
type again struct{ Engine }

// hasState finds queries whose answer the same query has changed, or that ask for what the moment or chance gives.
var hasState = regexp.MustCompile(`(?i):=|FOUND_ROWS|ROW_COUNT|LAST_INSERT_ID|RAND|UUID|NOW\(|CUR|SYSDATE|_timestamp|COUNT\(\*\) *errors|_count|nextval|_lock`)

func (a again) Query(ctx context.Context, sql, types string) ([]string, error) {
	values, err := a.Engine.Query(ctx, sql, types)
	if err != nil || hasState.MatchString(sql) {
		return values, err
	}
	first := slices.Sorted(slices.Values(values))
	for range 2 {
		if values, err = a.Engine.Query(ctx, sql, types); err != nil {
			return nil, fmt.Errorf("the query fails when it comes again: %w", err)
		}
		if now := slices.Sorted(slices.Values(values)); !slices.Equal(now, first) {
			return nil, fmt.Errorf("the query gives other rows when it comes again:\n%s\nbefore:\n%s", strings.Join(now, " "), strings.Join(first, " "))
		}
	}
	return values, nil
}

// TestKeptScripts runs the scripts of this repository with each query three times.
func TestKeptScripts(t *testing.T) {
	if *device != "" && *device != "cpu" {
		t.Skip("placing and compiling kernels, which other tests look at, would take all the time")
	}
	runScripts(t, ownScripts(t), nil, func(ctx context.Context) (Engine, error) {
		e, err := openRadish(ctx)
		return again{e}, err
	})
}
