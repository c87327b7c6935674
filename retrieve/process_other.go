//go:build !unix

package retrieve

import (
	"os/exec"
	"strconv"
)

// ownGroup has nothing to do: Windows remembers a process's parent.
func ownGroup(*exec.Cmd) {}

// endGroup ends the program with its children, and the program alone where the
// system's own command for that is missing.
func endGroup(cmd *exec.Cmd) {
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run() != nil {
		_ = cmd.Process.Kill() // it may have ended by itself
	}
}
