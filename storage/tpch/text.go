package tpch

import (
	"context"
	"weak"
)

// Pseudo text (clause 4.2.2.14) is not composed a comment at a time: one pool of sentences is written from a
// grammar, and a comment is a piece of the pool with a drawn offset and length. The pool is the same for every
// scale factor, and the smaller pool is the beginning of the larger one.

// phrase is a word with what follows it, held in fixed width so that a copy is two vector stores.
type phrase struct {
	text   [phraseWidth]byte
	length int
}

const (
	phraseWidth = 32
	// sentenceBytes bounds a sentence: four noun phrases, prepositions and a verb phrase of at most 32 bytes a word.
	sentenceBytes = 1024
)

// phrases are the members of a distribution, each with a suffix.
type phrases struct {
	words []phrase
	dist  *distribution
}

func withSuffix(d *distribution, suffix string) phrases {
	p := phrases{dist: d}
	for _, m := range d.members {
		w := phrase{length: len(m) + len(suffix)}
		copy(w.text[:], m+suffix)
		p.words = append(p.words, w)
	}
	return p
}

var (
	nounWords       = withSuffix(nouns, " ")
	verbWords       = withSuffix(verbs, " ")
	adjectiveWords  = withSuffix(adjectives, " ")
	adjectiveCommas = withSuffix(adjectives, ", ")
	adverbWords     = withSuffix(adverbs, " ")
	auxiliaryWords  = withSuffix(auxiliaries, " ")
	prepositionThes = withSuffix(prepositions, " the ")
	endings         = withSuffix(terminators, " ")
)

// textWriter writes sentences.
type textWriter struct {
	buf []byte
	at  int
	s   state
}

func (w *textWriter) form(d *distribution) string {
	w.s = w.s.next()
	return d.members[d.pick(w.s)]
}

func (w *textWriter) word(p *phrases) {
	w.s = w.s.next()
	word := &p.words[p.dist.pick(w.s)]
	*(*[phraseWidth]byte)(w.buf[w.at:]) = word.text
	w.at += word.length
}

// sentence writes one sentence and the space behind it; the buffer has sentenceBytes left.
func (w *textWriter) sentence() {
	for _, part := range w.form(sentences) {
		switch part {
		case 'N':
			w.nounPhrase()
		case 'V':
			w.verbPhrase()
		case 'P':
			w.word(&prepositionThes)
			w.nounPhrase()
		case 'T':
			w.at-- // an ending abuts the word before it
			w.word(&endings)
		}
	}
}

func (w *textWriter) nounPhrase() {
	for _, part := range w.form(nounPhrases) {
		switch part {
		case 'N':
			w.word(&nounWords)
		case 'J':
			w.word(&adjectiveWords)
		case ',':
			w.word(&adjectiveCommas)
		case 'D':
			w.word(&adverbWords)
		}
	}
}

func (w *textWriter) verbPhrase() {
	for _, part := range w.form(verbPhrases) {
		switch part {
		case 'V':
			w.word(&verbWords)
		case 'X':
			w.word(&auxiliaryWords)
		case 'D':
			w.word(&adverbWords)
		}
	}
}

// textPool is the text that comments are pieces of.
type textPool struct{ text []byte }

// newTextPool writes a pool of size bytes.
func newTextPool(ctx context.Context, size int) (*textPool, error) {
	const checkEvery = 1 << 20 // bytes between looks at ctx, some milliseconds
	w := textWriter{buf: make([]byte, size+sentenceBytes), s: textWords}
	for w.at < size {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for stop := min(w.at+checkEvery, size); w.at < stop; {
			w.sentence()
		}
	}
	return &textPool{text: w.buf[:size:size]}, nil
}

// pools remembers the pool of each edition for as long as somebody uses it, so that generators that run together
// share one and an idle program holds none.
var pools = func() (p [editions]poolCache) {
	for i := range p {
		p[i].turn = make(chan struct{}, 1)
	}
	return p
}()

// poolCache holds one pool weakly. Who has put a token into turn owns the cache.
type poolCache struct {
	turn chan struct{}
	last weak.Pointer[textPool]
}

// loadTextPool returns the pool of an edition.
func loadTextPool(ctx context.Context, e Edition) (*textPool, error) {
	cache := &pools[e]
	select {
	case cache.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-cache.turn }()
	if pool := cache.last.Value(); pool != nil {
		return pool, nil
	}
	pool, err := newTextPool(ctx, e.poolBytes())
	if err != nil {
		return nil, err
	}
	cache.last = weak.Make(pool)
	return pool, nil
}

// lengths are the shortest and the longest comment of a column: 0.4 and 1.6 times the average that clause 4.2.3
// gives, rounded down.
type lengths struct{ shortest, longest int64 }

var (
	partCommentLengths     = lengths{5, 22}
	partSuppCommentLengths = lengths{49, 198}
	supplierCommentLengths = lengths{25, 100}
	customerCommentLengths = lengths{29, 116}
	orderCommentLengths    = lengths{19, 78}
	lineCommentLengths     = lengths{10, 43}
	nationCommentLengths   = lengths{28, 115}
)

// piece is a draw from the pool: an offset and a length.
type piece struct{ offset, length uint32 }

// spans returns the ranges that a piece's offset and length are drawn from.
func (p *textPool) spans(l lengths) (offset, length span) {
	return between(0, int64(len(p.text))-l.longest), between(l.shortest, l.longest)
}

// comments draws n comments, two draws each.
func (p *textPool) comments(s state, n int, l lengths) Column {
	offset, length := p.spans(l)
	pieces := make([]piece, n)
	for i := range pieces {
		s = s.next()
		at := offset.at(s)
		s = s.next()
		pieces[i] = piece{uint32(at), uint32(length.at(s))}
	}
	return p.column(pieces)
}

// column copies pieces of the pool into a column of strings.
func (p *textPool) column(pieces []piece) Column {
	offsets := make([]uint32, len(pieces)+1)
	end := uint32(0)
	for i, c := range pieces {
		end += c.length
		offsets[i+1] = end
	}
	bytes := make([]byte, end)
	for i, c := range pieces {
		copy(bytes[offsets[i]:offsets[i+1]], p.text[c.offset:c.offset+c.length])
	}
	return Column{Offsets: offsets, Bytes: bytes}
}
