package types

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

func TestCollationNames(t *testing.T) {
	for _, c := range Collations() {
		got, ok := CollationByName(strings.ToUpper(c.String()))
		if !ok || got != c {
			t.Errorf("%s is found as %s, %v", c, got, ok)
		}
	}
	if _, ok := CollationByName("utf8mb4"); ok {
		t.Error("a character set is found as a collation")
	}
}

// TestEqualStrings has pairs whose outcome MySQL's manual or MariaDB gives.
func TestEqualStrings(t *testing.T) {
	for _, tc := range []struct {
		c     Collation
		a, b  string
		equal bool
	}{
		{CollationGeneralCI, "a", "A", true},
		{CollationGeneralCI, "é", "E", true},
		{CollationGeneralCI, "ß", "s", true}, // Reference Manual 12.10.1
		{CollationGeneralCI, "ß", "ss", false},
		{CollationGeneralCI, "a", "a  ", true},
		{CollationGeneralCI, " a", "a", false},
		{CollationGeneralCI, "æ", "ae", false},
		{CollationGeneralCI, "й", "и", false},
		{CollationGeneralCI, "ё", "Е", true},
		{CollationGeneralCI, "😀", "🍣", true},
		{CollationGeneralCI, "e\u0301", "é", false},
		{CollationAiCI, "a", "A", true},
		{CollationAiCI, "é", "E", true},
		{CollationAiCI, "e\u0301", "é", true},
		{CollationAiCI, "ß", "SS", true},
		{CollationAiCI, "Æ", "ae", true},
		{CollationAiCI, "a", "a ", false},
		{CollationAiCI, "😀", "🍣", false},
		{CollationAiCI, "ї", "І", true},
		{CollationAiCI, "й", "и", false},
		{CollationAiCI, "и\u0306", "Й", true},
		{CollationAiCI, "и\u0301", "И", true},
		{CollationAiCI, "は", "ハ", true},
		{CollationAiCI, "ﬁ", "fi", true},
		{CollationUnicode520CI, "ß ", "SS", true},
		{CollationUnicode520CI, "a\u00A0", "a", true},
		{CollationUnicode520CI, "ї", "І", false},
		{CollationUnicode520CI, "😀", "🍣", false},
		{CollationAsCI, "é", "É", true},
		{CollationAsCI, "é", "e", false},
		{CollationAsCS, "é", "É", false},
		{CollationAsCS, "é", "e\u0301", true},
		{CollationBin0900, "a", "A", false},
		{CollationBin, "a", "a ", false},
	} {
		if got := tc.c.Key(tc.a) == tc.c.Key(tc.b); got != tc.equal {
			t.Errorf("%s: %q = %q is %v", tc.c, tc.a, tc.b, got)
		}
	}
}

var collationAlphabet = []rune("aAbBzZ äÄéßsSyÿñ\t!~0 9_αΑάςσйиЙїіЁё漢字 かカ😀🍣ﬁæÆ\u0301\u0308\u0000")

func randomText(r *rand.Rand) string {
	out := make([]rune, r.IntN(7))
	for i := range out {
		out[i] = collationAlphabet[r.IntN(len(collationAlphabet))]
	}
	return string(out)
}

// TestGeneralKeys compares keys with MySQL's own procedure: weights one by one, then what is left of the longer text with spaces
// (my_strnncollsp_utf8mb4).
func TestGeneralKeys(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	compare := func(a, b []rune) int {
		for len(a) > 0 && len(b) > 0 {
			if x, y := generalWeight(a[0]), generalWeight(b[0]); x != y {
				return compareInts(int64(x), int64(y))
			}
			a, b = a[1:], b[1:]
		}
		for _, x := range a {
			if x != ' ' {
				return compareInts(int64(x), ' ')
			}
		}
		for _, x := range b {
			if x != ' ' {
				return compareInts(int64(' '), int64(x))
			}
		}
		return 0
	}
	for range 100_000 {
		a, b := randomText(r), randomText(r)
		if r.IntN(3) == 0 {
			b = a + strings.Repeat(" ", r.IntN(3)) + randomText(r)
		}
		want := compare([]rune(a), []rune(b))
		if got := strings.Compare(CollationGeneralCI.Key(a), CollationGeneralCI.Key(b)); got != want {
			t.Fatalf("seed %d: %q and %q compare as %d by keys, %d by weights", seed, a, b, got, want)
		}
	}
}

// TestUnicodeKeys compares keys with golang.org/x/text's comparison, Cyrillic letters with marks left out, which are meant to differ.
func TestUnicodeKeys(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	marked := strings.NewReplacer("ї", "", "ё", "", "Ё", "", "і\u0308", "", "и\u0308", "", "и\u0301", "")
	for c, options := range map[Collation][]collate.Option{
		CollationAiCI: {collate.IgnoreCase, collate.IgnoreDiacritics}, CollationAsCI: {collate.IgnoreCase}, CollationAsCS: nil,
	} {
		other := collate.New(language.Und, options...)
		for range 20_000 {
			a, b := marked.Replace(randomText(r)), marked.Replace(randomText(r))
			if strings.ContainsAny(a+b, "іиИйЙ\u0308\u0301") && c == CollationAiCI {
				continue
			}
			if got, want := strings.Compare(c.Key(a), c.Key(b)), other.CompareString(a, b); got != want {
				t.Fatalf("seed %d, %s: %q and %q compare as %d, want %d", seed, c, a, b, got, want)
			}
		}
	}
}

// TestFoldChar: characters are equal one by one if, and only if, the strings of them alone are.
func TestFoldChar(t *testing.T) {
	for _, c := range Collations() {
		for _, a := range collationAlphabet {
			for _, b := range collationAlphabet {
				pad := a == ' ' || b == ' ' // the text of a space alone may be equal to none
				if got, want := c.FoldChar(a) == c.FoldChar(b), c.Key(string(a)) == c.Key(string(b)); got != want && !pad {
					t.Errorf("%s: %q and %q: %v, want %v", c, a, b, got, want)
				}
			}
		}
	}
}

func TestEnumIndexByCollation(t *testing.T) {
	e := Type{Kind: KindEnum, Enum: &EnumMembers{Names: []string{"red", "Grün"}}, Collation: CollationAiCI}
	for name, want := range map[string]int64{"RED": 1, "grun": 2, "blue": 0} {
		if got, ok := e.EnumIndex(name); got != want || ok != (want > 0) {
			t.Errorf("%s is %d, %v", name, got, ok)
		}
	}
	e.Collation = CollationBin
	if _, ok := e.EnumIndex("RED"); ok {
		t.Error("RED is a member by bytes")
	}
}

func BenchmarkCollationKey(b *testing.B) {
	for _, c := range []Collation{CollationGeneralCI, CollationAiCI, CollationAsCS} {
		for _, s := range []string{"carefully final requests", "Größe der Straße"} {
			b.Run(c.String()+"/"+strings.Fields(s)[0], func(b *testing.B) {
				var key []byte
				for b.Loop() {
					key = c.AppendKey(key[:0], s)
				}
			})
		}
	}
}

func TestCollationsAreComplete(t *testing.T) {
	var ids []int64
	for _, c := range Collations() {
		ids = append(ids, c.ID())
		if typ := Varchar(3).Collate(c); typ.Folds() == c.Bytewise() {
			t.Errorf("%s: VARCHAR folds %v, by bytes %v", c, typ.Folds(), c.Bytewise())
		}
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != len(Collations()) {
		t.Error("two collations have one number")
	}
}
