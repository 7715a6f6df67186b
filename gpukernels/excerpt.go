package gpukernels

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// NVRTC reads a kernel's headers for as long as the kernel itself, and most of what they define is of no use to it. So it gets, in place of the lines that
// include headers, the definitions that the kernel names, and those that these name in turn.

// An excerptItem is a definition at the top level of a header, or a line that belongs to all of them, such as #endif.
type excerptItem struct {
	file   string
	line   int // of the first line, from 1
	text   string
	always bool
	names  []string // that it defines
	uses   []string // identifiers in it
}

// excerptItems lists the items of all headers, each behind what it needs.
var excerptItems = sync.OnceValue(func() []excerptItem {
	var out []excerptItem
	texts, read := map[string]string{}, map[string]bool{}
	for _, f := range headerFiles() {
		texts[f.name] = string(f.text)
	}
	var visit func(name string)
	visit = func(name string) {
		if read[name] {
			return
		}
		read[name] = true
		for _, m := range includeLine.FindAllStringSubmatch(texts[name], -1) {
			visit(m[1])
		}
		out = append(out, itemsOf(name, texts[name])...)
	}
	for _, f := range headerFiles() {
		visit(f.name)
	}
	return out
})

// itemsOf takes a header apart. Definitions begin at a line's beginning, and end at a line's end. Of what the emulated device sees alone there is nothing.
func itemsOf(file, text string) []excerptItem {
	var out []excerptItem
	var conditions []condition
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lineComment.ReplaceAllString(lines[i], ""), " ")
		directive, _, _ := strings.Cut(line, " ")
		switch directive {
		case "", "#include", "#pragma":
			continue
		case "#if", "#ifdef", "#ifndef", "#else", "#endif":
			var keep bool
			if conditions, keep = nest(conditions, directive, line); keep {
				out = append(out, excerptItem{file: file, line: i + 1, text: line + "\n", always: true})
			}
			continue
		}
		item := excerptItem{file: file, line: i + 1}
		for depth := 0; ; i++ {
			plain := lineComment.ReplaceAllString(lines[i], "")
			item.text += lines[i] + "\n"
			depth += strings.Count(plain, "{") - strings.Count(plain, "}") + strings.Count(plain, "(") - strings.Count(plain, ")")
			plain = strings.TrimRight(plain, " ")
			whole := !strings.HasSuffix(plain, `\`)
			if directive[0] != '#' {
				whole = depth == 0 && (strings.HasSuffix(plain, ";") || strings.HasSuffix(plain, "}") || strings.HasPrefix(line, "RADISH_MATH_"))
			}
			if whole || i+1 == len(lines) {
				break
			}
		}
		if hidden(conditions) {
			continue
		}
		plain := lineComment.ReplaceAllString(item.text, "")
		item.names = definedNames(plain)
		item.always = len(item.names) == 0
		item.uses = identifier.FindAllString(plain, -1)
		item.text = inlineEarly(item.text)
		out = append(out, item)
	}
	return out
}

// A condition is an #if that is open.
type condition struct {
	known bool // it asks for the emulated device alone
	hides bool // what stands there now is the emulated device's
}

// nest follows an #if, #else or #endif. keep: the compiler has to see it.
func nest(open []condition, directive, line string) (now []condition, keep bool) {
	switch directive {
	case "#else":
		last := &open[len(open)-1]
		last.hides = last.known && !last.hides
		return open, !last.known && !hidden(open)
	case "#endif":
		last := open[len(open)-1]
		open = open[:len(open)-1]
		return open, !last.known && !hidden(open)
	}
	known := strings.HasSuffix(line, " RADISH_EMULATED")
	keep = !known && !hidden(open)
	return append(open, condition{known, known && directive == "#ifdef"}), keep
}

func hidden(open []condition) bool {
	for _, c := range open {
		if c.hides {
			return true
		}
	}
	return false
}

// otherDefinition is what Includes need not know of: types by another name, enumerations and variables.
var otherDefinition = regexp.MustCompile(`^(?:typedef\s[^;]*?(\w+);|enum\s+(?:class\s+)?(\w+)|(?:extern|RADISH_GLOBAL_CONST)\s[^;{]*?(\w+)\[)`)

// definedNames are the names that a definition at the top level defines; none: it is of another kind.
func definedNames(text string) []string {
	names := headerNames(text)
	if m := otherDefinition.FindStringSubmatch(text); m != nil {
		names = append(names, m[1]+m[2]+m[3])
	}
	return names
}

// inlinedFunction is the beginning of a function that is inlined, up to its body.
var inlinedFunction = regexp.MustCompile(`(?m)^[ \t]*(?:static )?RADISH_(?:FN|LONG) [^\n;]*?\)(?: const)? \{`)

// impure is a statement of no effect. A function that touches no memory is inlined late: until then each of NVRTC's passes optimizes it, though nothing
// is left of it in the end. With this statement in it, it does not count as one.
const impure = " __builtin_assume(true);"

// inlineEarly puts the statement into the functions of a text.
func inlineEarly(text string) string { return inlinedFunction.ReplaceAllString(text, "$0"+impure) }

// pointerCall is a call of as_pointer, of which kernels have very many: each is a function to inline where a cast is none.
var pointerCall = regexp.MustCompile(`\bas_pointer<([^<>()]+)>\(`)

// excerpt returns a source with what it needs of the device headers in place of the lines that include them.
func excerpt(source string) string {
	first := includeLine.FindStringIndex(source)
	if first == nil {
		return source
	}
	items := excerptItems()
	byName := excerptNames()
	taken := make([]bool, len(items))
	var take func(uses []string)
	take = func(uses []string) {
		for _, name := range uses {
			for _, i := range byName[name] {
				if !taken[i] {
					taken[i] = true
					take(items[i].uses)
				}
			}
		}
	}
	for i := range items {
		if items[i].always {
			taken[i] = true
			take(items[i].uses)
		}
	}
	rest := pointerCall.ReplaceAllString(includeLine.ReplaceAllString(source[first[0]:], ""), "reinterpret_cast<$1*>(")
	take(identifier.FindAllString(lineComment.ReplaceAllString(source[:first[0]]+rest, ""), -1))
	var b strings.Builder
	b.WriteString(source[:first[0]])
	file, next := "", 0
	for i := range items {
		if x := &items[i]; taken[i] {
			if x.file != file || x.line != next {
				fmt.Fprintf(&b, "#line %d \"%s\"\n", x.line, x.file)
			}
			b.WriteString(x.text)
			file, next = x.file, x.line+strings.Count(x.text, "\n")
		}
	}
	fmt.Fprintf(&b, "#line %d \"pipeline.cu\"\n", strings.Count(source[:first[0]], "\n")+1)
	b.WriteString(inlineEarly(rest))
	return b.String()
}

// excerptNames is where a name is defined, by the items' numbers.
var excerptNames = sync.OnceValue(func() map[string][]int {
	out := map[string][]int{}
	for i, x := range excerptItems() {
		for _, name := range x.names {
			out[name] = append(out[name], i)
		}
	}
	return out
})
