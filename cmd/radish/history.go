package main

import (
	"os"
	"path/filepath"
)

// historyFile returns the file of the shell's history, "" if there is no folder for one. It is made readable for its
// owner only, since statements hold data.
func historyFile() string {
	var path string
	if state := os.Getenv("XDG_STATE_HOME"); state != "" {
		path = filepath.Join(state, "radish", "history")
		if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
			return ""
		}
	} else if home, err := os.UserHomeDir(); err == nil {
		path = filepath.Join(home, ".radish_history")
	} else {
		return ""
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return ""
	}
	f.Close()
	return path
}
