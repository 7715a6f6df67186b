package types

// Int128 is a signed 128-bit integer in two's complement. Its zero value is 0.
type Int128 struct {
	Hi int64
	Lo uint64
}
