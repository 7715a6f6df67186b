package miscellaneous_test

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/functions/exprtest"
	"github.com/radish-sql/radish/sql/sqlerr"
)

func TestShortIDs(t *testing.T) {
	before := int64(0)
	for range 3 {
		v, err := expr.Eval1(exprtest.MustCall(t, "uuid_short"), exprtest.NewContext())
		if err != nil || v.I <= before {
			t.Fatalf("%d follows %d (%v)", v.I, before, err)
		}
		before = v.I
	}
}

func TestUUID(t *testing.T) {
	v, err := expr.Eval1(exprtest.Must(expr.NewCall("uuid")), exprtest.NewContext())
	if err != nil || !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(v.S) {
		t.Errorf("UUID() = %q, %v", v.S, err)
	}
}

func TestSleepEndsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	c := exprtest.NewContext()
	c.Ctx = ctx
	start := time.Now()
	_, err := expr.Eval1(exprtest.Must(expr.NewCall("sleep", exprtest.Lit(60))), c)
	if !errors.Is(err, sqlerr.CodeTimeout) || time.Since(start) > 20*time.Second {
		t.Errorf("SLEEP(60) under a deadline: %v after %v", err, time.Since(start))
	}
}
