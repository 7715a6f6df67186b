//go:build !linux

package encoding

// adviseHuge is for Linux, which has to be asked.
func adviseHuge([]byte) {}

// findPages is for Linux, too: elsewhere pages come as they are touched.
func findPages([]byte) bool { return false }
