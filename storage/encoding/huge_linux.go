package encoding

import (
	"errors"
	"syscall"
)

// adviseHuge asks for huge pages of memory that nobody has touched. Where there are none, pages are small.
func adviseHuge(memory []byte) { _ = syscall.Madvise(memory, syscall.MADV_HUGEPAGE) }

// populateWrite is MADV_POPULATE_WRITE, of Linux 5.14 on.
const populateWrite = 23

// findPages has memory backed by pages. What it holds stays. false: the system cannot be asked to.
func findPages(memory []byte) bool {
	err := syscall.Madvise(memory, populateWrite)
	return !errors.Is(err, syscall.EINVAL)
}
