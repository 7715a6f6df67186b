package expr

// IsVolatile says whether e gives another value each time, so that it must neither move nor be copied.
func IsVolatile(e Expr) bool {
	found := false
	Walk(e, func(e Expr) bool {
		if c, ok := e.(*Call); ok && c.Fn.Volatile {
			found = true
		}
		return !found
	})
	return found
}

// HasSubquery says whether e has a subquery somewhere.
func HasSubquery(e Expr) bool {
	found := false
	Walk(e, func(e Expr) bool {
		_, is := e.(*Subquery)
		found = found || is
		return !found
	})
	return found
}

// IsSequence says whether e holds RAND with a constant seed, which gives the next value of a sequence for each row.
func IsSequence(e Expr) bool {
	found := false
	Walk(e, func(e Expr) bool {
		if c, ok := e.(*Call); ok && c.Fn.Name == "rand" && len(c.Args) == 1 {
			if _, isConstant := c.Args[0].(*Const); isConstant {
				found = true
			}
		}
		return !found
	})
	return found
}
