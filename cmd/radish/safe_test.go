package main

import (
	"strings"
	"testing"
)

// TestSafe runs what reaches for files and programs under --safe: all of it is refused, and what is there and what is not alike.
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

// TestFileAccessFlag: an empty value, such as of a variable that is not set, is no wish for all files.
func TestFileAccessFlag(t *testing.T) {
	for _, flags := range [][]string{{"--file-access", ""}, {"--file-access="}, {"--safe", "--file-access", "full"}} {
		if _, stderr, code := runRadish(t, "SELECT 1;", flags...); code != 2 || !strings.Contains(stderr, "--file-access") {
			t.Errorf("%q: exit %d, %q", flags, code, stderr)
		}
	}
}
