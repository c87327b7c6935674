//go:build unix

package retrieve

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the program the head of a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends what is left of the program's group; none being left is no
// error.
func endGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
