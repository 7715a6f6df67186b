package encoding

import "syscall"

// adviseHuge asks for huge pages of memory that nobody has touched. Where there are none, pages are small.
func adviseHuge(memory []byte) { _ = syscall.Madvise(memory, syscall.MADV_HUGEPAGE) }
