package table

import "context"

type readsKey struct{}

// WithReads returns a context whose readers of files tell how many bytes they have read, from several goroutines.
func WithReads(ctx context.Context, tell func(bytes int64)) context.Context {
	return context.WithValue(ctx, readsKey{}, tell)
}

// Reads tells that bytes of a file were read, if somebody wants to know.
func Reads(ctx context.Context, bytes int64) {
	if tell, _ := ctx.Value(readsKey{}).(func(bytes int64)); tell != nil {
		tell(bytes)
	}
}
