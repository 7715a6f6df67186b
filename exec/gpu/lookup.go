package gpu

// lookupCache keeps lookup tables over dictionaries between the runs of a query.
type lookupCache struct{}
