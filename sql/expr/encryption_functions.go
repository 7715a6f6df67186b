package expr

import "slices"

// encryptionFunctions returns the encryption and compression functions (Reference Manual 14.13).
func encryptionFunctions() []*Function {
	return slices.Concat(aesFunctions(), compressFunctions(), digestFunctions())
}
