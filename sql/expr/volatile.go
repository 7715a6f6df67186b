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
