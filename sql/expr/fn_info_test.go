package expr

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Reference Manual 14.15, 14.23.
var _ = addExamples([]example{
	{"database", nil, "test"},
	{"schema", nil, "test"},
	{"user", nil, "root@localhost"},
	{"current_user", nil, "root@localhost"},
	{"version", nil, ServerVersion},
	{"connection_id", nil, "7"},
	{"row_count", nil, "3"},
	{"found_rows", nil, "5"},
	{"sleep", []any{0}, "0"},
})

func TestUUID(t *testing.T) {
	v, err := Eval1(must(NewCall("uuid")), testContext())
	if err != nil || !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(v.S) {
		t.Errorf("UUID() = %q, %v", v.S, err)
	}
}

func TestSleepEndsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	c := testContext()
	c.Ctx = ctx
	start := time.Now()
	_, err := Eval1(must(NewCall("sleep", lit(60))), c)
	if !errors.Is(err, sqlerr.CodeTimeout) || time.Since(start) > 5*time.Second {
		t.Errorf("SLEEP(60) under a deadline: %v after %v", err, time.Since(start))
	}
}
