package fileaccess

import (
	"fmt"
	"io/fs"
	"syscall"
)

// identity tells a file from another that took its place with the same size and time of change, and notes any change of its inode.
func identity(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d %d.%09d", s.Dev, s.Ino, s.Ctim.Sec, s.Ctim.Nsec)
}
