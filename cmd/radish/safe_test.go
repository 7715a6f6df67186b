package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/storage/fileaccess"
)

// TestSafe runs what reaches for files and programs under --safe: all of it is refused, and a missing file with the same message as one that exists.
func TestSafe(t *testing.T) {
	there := writeFile(t, "there.csv", "x\n1\n")
	for _, line := range []string{
		".shell echo reached", ".system echo reached", ".read NAME", ".import NAME t", ".output NAME", ".once NAME", ".once |cat", ".cd /", ".open NAME", ".edit",
		"SELECT * FROM `NAME`;", "LOAD DATA INFILE 'NAME' INTO TABLE t;", "SELECT 1 INTO OUTFILE 'NAME';", ".export t NAME", "SET radish_file_access = 'full';",
	} {
		var got [2]string
		for i, name := range []string{there, strings.Replace(there, "there", "fable", 1)} {
			stdout, stderr, code := runRadish(t, "CREATE TABLE t (a INT);\n"+strings.ReplaceAll(line, "NAME", name)+"\n", "--safe")
			if code != 1 || strings.Contains(stdout, "reached") {
				t.Errorf("%s: exit %d, %q, %q", line, code, stdout, stderr)
			}
			got[i] = strings.ReplaceAll(stdout+stderr, name, "NAME")
		}
		if got[0] != got[1] {
			t.Errorf("%s tells what there is: %q, %q", line, got[0], got[1])
		}
	}
}

// TestHelpOffersWhatIsAllowed compares .help and completion with the commands that are refused.
func TestHelpOffersWhatIsAllowed(t *testing.T) {
	top := t.TempDir()
	for access, refused := range map[string]string{
		"full": "", "read": "backup edit export once output shell", "none": "backup cd edit export import once output read restore shell",
		top: "edit shell", "read:" + top: "backup edit export once output shell",
	} {
		help, stderr, code := runRadish(t, ".help", "--file-access", access)
		if code != 0 {
			t.Fatal(access, stderr)
		}
		p, err := fileaccess.Parse(access)
		if err != nil {
			t.Fatal(err)
		}
		commands := offered(p)
		for _, c := range dotCommands {
			want := !slices.Contains(strings.Fields(refused), c.name)
			listed := strings.Contains(help, "\n  ."+c.name+" ") || strings.HasPrefix(help, "  ."+c.name+" ")
			offered := slices.ContainsFunc(commands, func(o dotCommand) bool { return o.name == c.name })
			if listed != want || offered != want {
				t.Errorf("%s: .%s is listed: %v, offered: %v; want %v", access, c.name, listed, offered, want)
			}
		}
		for text, want := range map[string]bool{"COMMAND": access == "full", "$EDITOR": access == "full", `\! command`: access == "full", "to a command": access == "full", "source f": access != "none", `\i f`: access != "none"} {
			if strings.Contains(help, text) != want {
				t.Errorf("%s: %q is there: %v", access, text, !want)
			}
		}
		for _, name := range strings.Fields(refused) { // what is not listed is refused
			arg := map[string]string{"export": "t f.csv", "import": "f.csv t", "edit": ""}[name]
			if arg == "" && name != "edit" {
				arg = filepath.Join(top, "f")
			}
			if _, stderr, code := runRadish(t, "CREATE TABLE t (a INT);\n."+name+" "+arg, "--file-access", access); code != 1 || !strings.Contains(stderr, "refused") {
				t.Errorf("%s: .%s: exit %d, %s", access, name, code, stderr)
			}
		}
	}
}

// TestFolders runs the shell's own commands where some folders are allowed: they may do what statements may, and no more.
func TestFolders(t *testing.T) {
	top := t.TempDir()
	for _, name := range []string{"in/a.sql", "in/a.csv", "out/a.sql", "secret/a.sql", "secret/a.csv"} {
		if err := os.MkdirAll(filepath.Join(top, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(top, name), []byte("CREATE TABLE x (a INT);"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	access := "read:" + filepath.Join(top, "in") + "," + filepath.Join(top, "out")
	for line, allowed := range map[string]bool{
		".read TOP/in/a.sql": true, ".read TOP/out/a.sql": true, ".read TOP/secret/a.sql": false, ".read TOP/secret/none.sql": false, ".import TOP/in/a.csv t": true, ".import TOP/secret/a.csv t": false,
		".output TOP/out/o.csv": true, ".output TOP/in/o.csv": false, ".output TOP/secret/o.csv": false, ".once TOP/out/o.txt": true, ".once TOP/in/o.txt": false, ".once |cat": false, ".shell true": false,
		".cd TOP/in": true, ".cd TOP/secret": false, ".open other": true, ".open other\n.output TOP/in/o.csv": false, "SELECT 1 AS a INTO OUTFILE 'TOP/out/e.csv' OVERWRITE": true, "CREATE TABLE y (a INT);\n.export --overwrite y TOP/out/e2.csv": true,
		"CREATE TABLE y (a INT);\n.export y TOP/in/e.csv": false, "SET radish_file_access = 'none';\n.open other\n.read TOP/in/a.sql": false, ".read TOP/out/../secret/a.sql": false,
	} {
		script := strings.ReplaceAll(line, "TOP", top)
		_, stderr, code := runRadish(t, script, "--file-access", access)
		if refused := strings.Contains(stderr, "is refused"); (code == 0) != allowed || refused == allowed {
			t.Errorf("%s: exit %d, %s", line, code, stderr)
		}
		if strings.Contains(line, "OUTFILE") || strings.Contains(line, ".open") {
			continue
		}
		_, stderr, code = runRadish(t, script, "check", "--file-access", access, "-")
		if refused := strings.Contains(stderr, "is refused"); (code == 0) != allowed || refused == allowed {
			t.Errorf("check %s: exit %d, %s", line, code, stderr)
		}
	}
	for _, line := range []string{".read TOP/in/a.sql", "SELECT * FROM `TOP/in/a.csv`;", ".output x.csv", "SELECT 1 INTO OUTFILE 'x.csv';"} {
		if _, stderr, code := runRadish(t, strings.ReplaceAll(line, "TOP", top), "check", "--safe", "-"); code != 1 || !strings.Contains(stderr, "is refused") {
			t.Errorf("check --safe %s: exit %d, %s", line, code, stderr)
		}
	}
}

// TestFileAccessFlag: an empty value, such as of a variable that is not set, is no wish for all files.
func TestFileAccessFlag(t *testing.T) {
	for _, flags := range [][]string{{"--file-access", ""}, {"--file-access="}, {"--safe", "--file-access", "full"}} {
		if _, stderr, code := runRadish(t, "SELECT 1;", flags...); code != 2 || !strings.Contains(stderr, "--file-access") {
			t.Errorf("%q: exit %d, %q", flags, code, stderr)
		}
	}
}
