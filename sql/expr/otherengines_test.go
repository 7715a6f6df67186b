package expr

import (
	"errors"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// No function that there is stands among those of other engines, and those get a hint.
func TestOtherEngines(t *testing.T) {
	for name, instead := range otherEngines {
		if Lookup(name) != nil || LookupAggregate(name) != nil || LookupWindow(name) != nil {
			t.Errorf("%s is a function here", name)
		}
		if name != strings.ToLower(name) {
			t.Errorf("%s is not written in lower case", name)
		}
		_, err := NewCall(strings.ToUpper(name))
		if !errors.Is(err, sqlerr.CodeUnknownFunction) || !strings.Contains(err.Error(), instead) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
