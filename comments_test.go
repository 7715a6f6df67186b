package radish_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// mostWordsOfComment bounds the prose of a comment. What takes more stands in docs/internals, and the comment names the page.
const mostWordsOfComment = 90

// TestComments bounds the words of comments. Those of packages, which say what each file is for, are not counted, and neither are lists and code.
func TestComments(t *testing.T) {
	comments := 0
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "build"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		for _, c := range file.Comments {
			if c == file.Doc {
				continue
			}
			comments++
			if n := proseWords(c); n > mostWordsOfComment {
				t.Errorf("%s: the comment has %d words, more than %d", set.Position(c.Pos()), n, mostWordsOfComment)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if comments < 10_000 {
		t.Errorf("only %d comments were found", comments)
	}
}

// proseWords counts the words of a comment's sentences. Lines that begin with more than one blank are those of a list or of code.
func proseWords(c *ast.CommentGroup) (n int) {
	for line := range strings.Lines(c.Text()) {
		if strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t") {
			continue
		}
		for _, word := range strings.Fields(line) {
			if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
				n++
			}
		}
	}
	return n
}

// TestProseWords: words are counted, signs, lists and code are not.
func TestProseWords(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x

// One - two, 3:
//
//   - a list
//     of lines
//
//	code()
//
// four.
var x int
`, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	if n := proseWords(file.Comments[0]); n != 4 {
		t.Errorf("%d words, want 4", n)
	}
}
