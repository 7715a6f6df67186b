package mariadb

import (
	"os/exec"
	"syscall"
)

// endWithParent kills the server when this process ends without Close, as a test that panics or runs out of time does.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
