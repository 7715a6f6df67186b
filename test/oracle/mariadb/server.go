// Package mariadb starts a MariaDB server of the test's own: its data in a new folder, reachable by a socket in
// that folder only, gone when it is closed. Debian's package mariadb-server has the two programs that it needs.
package mariadb

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
)

// ErrNotInstalled says that the server's programs are not on this machine.
var ErrNotInstalled = errors.New("mariadbd and mariadb-install-db are not installed (Debian: apt-get install mariadb-server)")

// mode is MySQL 8's default sql_mode.
const mode = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"

// Collation compares as Radish does: by code point, case-sensitive, trailing spaces counted.
const Collation = "utf8mb4_nopad_bin"

// Server is a running server.
type Server struct {
	dir       string
	cmd       *exec.Cmd
	done      chan struct{} // closed at the process's end
	end       error         // why it ended
	admin     *sql.DB
	databases atomic.Int64
}

// folder prefers memory to disk: the databases are small and short-lived.
func folder() (string, error) {
	if dir, err := os.MkdirTemp("/dev/shm", "radish-mariadb-"); err == nil {
		return dir, nil
	}
	return os.MkdirTemp("", "radish-mariadb-")
}

// Start installs and starts a server.
func Start(ctx context.Context) (*Server, error) {
	install, err := exec.LookPath("mariadb-install-db")
	if err != nil {
		return nil, ErrNotInstalled
	}
	daemon, err := lookDaemon()
	if err != nil {
		return nil, ErrNotInstalled
	}
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, done: make(chan struct{})}
	if err := s.start(ctx, install, daemon); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// lookDaemon finds mariadbd, which Debian keeps outside a plain user's PATH.
func lookDaemon() (string, error) {
	if path, err := exec.LookPath("mariadbd"); err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/mariadbd")
}

func (s *Server) start(ctx context.Context, install, daemon string) error {
	data := filepath.Join(s.dir, "data")
	args := []string{"--no-defaults", "--datadir=" + data}
	if os.Geteuid() == 0 {
		args = append(args, "--user=root")
	}
	out, err := exec.CommandContext(ctx, install, append(args, "--auth-root-authentication-method=normal", "--skip-test-db")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("mariadb-install-db: %w\n%s", err, out)
	}
	var log bytes.Buffer
	s.cmd = exec.Command(daemon, append(args,
		"--socket="+s.Socket(), "--pid-file="+filepath.Join(s.dir, "pid"), "--skip-networking",
		"--character-set-server=utf8mb4", "--collation-server="+Collation, "--sql-mode="+mode,
		"--default-storage-engine=InnoDB", "--skip-log-bin", "--max-connections=64",
		"--innodb-buffer-pool-size=16M", "--innodb-log-file-size=4M", "--innodb-flush-log-at-trx-commit=0",
		"--default-time-zone=+00:00", "--max-allowed-packet=64M", "--group-concat-max-len=1048576",
		"--key-buffer-size=16M", "--performance-schema=OFF", "--skip-name-resolve")...)
	endWithParent(s.cmd)
	s.cmd.Stdout, s.cmd.Stderr = &log, &log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	go func() {
		s.end = s.cmd.Wait()
		close(s.done)
	}()
	s.admin, err = s.connect("")
	if err != nil {
		return err
	}
	deadline := time.Now().Add(30 * time.Second)
	for {
		err := s.admin.PingContext(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-s.done:
			return fmt.Errorf("mariadbd ended: %v\n%s", s.end, log.Bytes())
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("mariadbd does not answer: %w", err)
		}
	}
}

// Socket is the path of the server's socket.
func (s *Server) Socket() string { return filepath.Join(s.dir, "sock") }

func (s *Server) connect(database string) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.DBName = "root", "unix", s.Socket(), database
	cfg.Collation = "utf8mb4_bin" // the handshake's number has one byte only; the next line sets ours
	cfg.ConnectionAttributes = "none:none"
	cfg.Params = map[string]string{"collation_connection": Collation}
	cfg.InterpolateParams = true
	cfg.MultiStatements = true
	cfg.Logger = quiet{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// quiet drops the driver's notes on connections refused while the server starts.
type quiet struct{}

func (quiet) Print(...any) {}

// Open makes a new, empty database and connects to it. Closing the DB leaves the database to the server's end.
func (s *Server) Open(ctx context.Context) (*sql.DB, error) {
	name := fmt.Sprintf("d%d", s.databases.Add(1))
	if _, err := s.admin.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return nil, err
	}
	return s.connect(name)
}

// Close stops the server, if it still runs, and removes its data.
func (s *Server) Close() error {
	if s.admin != nil {
		s.admin.Close()
	}
	if s.cmd != nil && s.cmd.Process != nil {
		// The data is thrown away, so there is nothing that an orderly shutdown would save.
		s.cmd.Process.Kill()
		<-s.done
	}
	return os.RemoveAll(s.dir)
}
