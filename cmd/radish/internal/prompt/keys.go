package prompt

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// Terminals mark text that is pasted, if they are asked to ("bracketed paste", xterm). What is between the marks is no key: a tab in it asks
// for no completion, a line end runs nothing.
const (
	AskForPasteMarks = "\x1b[?2004h"
	NoPasteMarks     = "\x1b[?2004l"
	pasteBegins      = "\x1b[200~"
	pasteEnds        = "\x1b[201~"
)

// Keys that the line editor has no name for travel through it as characters of the private use area.
const (
	keyPaste  = '\uf7e0' // stands for a text that was pasted
	keyBreak  = '\uf7e1' // breaks the line, complete or not
	keyDelete = '\uf7e2' // unlike Ctrl-D it never ends the input
	keyOlder  = '\uf7e3' // in the history, whatever line the cursor is in
	keyNewer  = '\uf7e4'
	keyEdit   = '\uf7e5' // the Enter behind it asks for the person's editor
)

// sequences are what terminals send for keys that the line editor does not know, or takes for others.
var sequences = map[string]string{
	"\x1b\r": string(keyBreak), "\x1b\n": string(keyBreak), // Alt-Enter
	"\x18\x05": string(keyEdit) + "\r", // Ctrl-X Ctrl-E
	"\x1b[3~":  string(keyDelete),
	"\x1b[5~":  string(keyOlder), // Page Up
	"\x1b[6~":  string(keyNewer),
	"\x1b[1~":  "\x01", "\x1b[7~": "\x01", "\x1b[4~": "\x05", "\x1b[8~": "\x05", // Home, End
	"\x1b[1;5C": "\x1bf", "\x1b[1;3C": "\x1bf", "\x1b[1;5D": "\x1bb", "\x1b[1;3D": "\x1bb", // by words
	"\x00":      "", // Ctrl-Space, which would be the end of the input
	pasteBegins: "",
}

// keyReader reads keys from a terminal. Pasted text is kept aside, and one key stands for it, so that it is inserted at once.
type keyReader struct {
	in      io.Reader
	pasting bool
	pasted  []byte // of the paste that goes on
	held    []byte // what may be the beginning of a sequence
	ready   []byte

	mu     sync.Mutex
	pastes []string // to which a keyPaste has been passed on
}

func (k *keyReader) Read(b []byte) (int, error) {
	for len(k.ready) == 0 {
		chunk := make([]byte, 4096)
		n, err := k.in.Read(chunk)
		k.take(chunk[:n])
		if err != nil && len(k.ready) == 0 {
			return 0, err
		}
	}
	n := copy(b, k.ready)
	k.ready = k.ready[n:]
	return n, nil
}

// take takes what the terminal has sent.
func (k *keyReader) take(chunk []byte) {
	if k.pasting && len(chunk) == 1 && chunk[0] == 0x03 { // a terminal that never ends its paste cannot keep the shell from a person's Ctrl-C
		k.pasting, k.pasted, k.held = false, nil, nil
	}
	text := append(k.held, chunk...)
	k.held = nil
	for len(text) > 0 {
		if k.pasting {
			text = k.paste(text)
			continue
		}
		i := bytes.IndexAny(text, "\x1b\x18\x00")
		if i < 0 {
			i = len(text)
		}
		k.ready = append(k.ready, text[:i]...)
		if text = text[i:]; len(text) == 0 {
			return
		}
		known, partial := "", false
		for sequence := range sequences {
			switch {
			case bytes.HasPrefix(text, []byte(sequence)):
				known = sequence
			case strings.HasPrefix(sequence, string(text)):
				partial = true
			}
		}
		switch {
		case known != "":
			k.ready = append(k.ready, sequences[known]...)
			k.pasting = known == pasteBegins
			text = text[len(known):]
		case partial && string(text) != "\x1b": // a key that is ESC alone does not wait
			k.held = bytes.Clone(text)
			return
		default:
			k.ready = append(k.ready, text[0])
			text = text[1:]
		}
	}
}

// paste takes text of a paste and returns what is behind it.
func (k *keyReader) paste(text []byte) []byte {
	text = append(k.pasted, text...) // a mark may lie across two pieces
	end := bytes.Index(text[max(0, len(k.pasted)-len(pasteEnds)):], []byte(pasteEnds))
	if end < 0 {
		k.pasted = text
		return nil
	}
	end += max(0, len(k.pasted)-len(pasteEnds))
	k.pasting, k.pasted = false, nil
	k.mu.Lock()
	k.pastes = append(k.pastes, string(text[:end]))
	k.mu.Unlock()
	k.ready = utf8.AppendRune(k.ready, keyPaste)
	return text[end+len(pasteEnds):]
}

// nextPaste returns the text that the next keyPaste stands for, with line breaks, and without control characters other than tabs.
func (k *keyReader) nextPaste() []rune {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.pastes) == 0 { // the character itself was typed
		return nil
	}
	text := k.pastes[0]
	k.pastes = k.pastes[1:]
	return inserted(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
}

// inserted returns a text as it is edited.
func inserted(text string) []rune {
	out := make([]rune, 0, len(text))
	for _, c := range text {
		switch {
		case c == '\n':
			out = append(out, lineBreak)
		case c >= ' ' && c != 0x7f || c == '\t':
			out = append(out, c)
		}
	}
	return out
}
