//go:build !linux

package encoding

// adviseHuge is for Linux, which has to be asked.
func adviseHuge([]byte) {}
