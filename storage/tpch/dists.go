package tpch

import (
	"fmt"
	"slices"
	"strings"
)

// The value lists of the specification (clauses 4.2.2.13 and 4.2.3) with the weights that dbgen gives them. A
// distribution maps a draw from 1..total weight to a member; position in the list is part of the data, since it
// says which draw gives which member.

// distribution is a weighted list of strings.
type distribution struct {
	members []string
	slots   []uint8 // the member of each unit of weight
	span    span    // of a draw: an index into slots
	codes   dictionary
}

// newDistribution reads a list of members separated by '|'. A member followed by ':' and a number has that
// weight, any other has weight 1.
func newDistribution(list string) *distribution {
	d := &distribution{}
	for i, entry := range strings.Split(list, "|") {
		weight := 1
		if at := strings.LastIndexByte(entry, ':'); at > 0 {
			if _, err := fmt.Sscanf(entry[at+1:], "%d", &weight); err != nil {
				panic(fmt.Sprintf("tpch: distribution entry %q: %v", entry, err))
			}
			entry = entry[:at]
		}
		d.members = append(d.members, entry)
		for range weight {
			d.slots = append(d.slots, uint8(i))
		}
	}
	d.span = between(0, int64(len(d.slots))-1)
	d.codes = newDictionary(d.members)
	return d
}

// pick returns the member for a state that was just drawn.
func (d *distribution) pick(s state) uint8 { return d.slots[d.span.at(s)] }

// column draws a member for each row, one draw a row.
func (d *distribution) column(s state, rows int) Column {
	codes := make([]uint32, rows)
	for i := range codes {
		s = s.next()
		codes[i] = d.codes.rank[d.pick(s)]
	}
	return Column{Codes: codes, Dict: d.codes.sorted}
}

// dictionary is a distribution's members in ascending order, so that codes compare as their strings do.
type dictionary struct {
	sorted []string
	rank   []uint32 // from a member's index in the distribution to its index in sorted
}

func newDictionary(members []string) dictionary {
	sorted := slices.Sorted(slices.Values(members))
	rank := make([]uint32, len(members))
	for i, m := range members {
		at, _ := slices.BinarySearch(sorted, m)
		rank[i] = uint32(at)
	}
	return dictionary{sorted: sorted, rank: rank}
}

// product joins each string of a with each of b by a space, a's changing slowest.
func product(a, b []string) []string {
	var out []string
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+" "+y)
		}
	}
	return out
}

const colorCount = 92

func words(list string) []string { return strings.Split(list, "|") }

var (
	regionNames = words("AFRICA|AMERICA|ASIA|EUROPE|MIDDLE EAST")

	nations = []struct {
		name   string
		region int64
	}{
		{"ALGERIA", 0}, {"ARGENTINA", 1}, {"BRAZIL", 1}, {"CANADA", 1}, {"EGYPT", 4}, {"ETHIOPIA", 0},
		{"FRANCE", 3}, {"GERMANY", 3}, {"INDIA", 2}, {"INDONESIA", 2}, {"IRAN", 4}, {"IRAQ", 4}, {"JAPAN", 2},
		{"JORDAN", 4}, {"KENYA", 0}, {"MOROCCO", 0}, {"MOZAMBIQUE", 0}, {"PERU", 1}, {"CHINA", 2},
		{"ROMANIA", 3}, {"SAUDI ARABIA", 4}, {"VIETNAM", 2}, {"RUSSIA", 3}, {"UNITED KINGDOM", 3},
		{"UNITED STATES", 1},
	}

	segments     = newDistribution("AUTOMOBILE|BUILDING|FURNITURE|HOUSEHOLD|MACHINERY")
	priorities   = newDistribution("1-URGENT|2-HIGH|3-MEDIUM|4-NOT SPECIFIED|5-LOW")
	instructions = newDistribution("DELIVER IN PERSON|COLLECT COD|TAKE BACK RETURN|NONE")
	shipModes    = newDistribution("REG AIR|AIR|RAIL|TRUCK|MAIL|FOB|SHIP")
	returnFlags  = newDistribution("R|A")

	partTypes = newDistribution(strings.Join(product(product(
		words("STANDARD|SMALL|MEDIUM|LARGE|ECONOMY|PROMO"),
		words("ANODIZED|BURNISHED|PLATED|POLISHED|BRUSHED")),
		words("TIN|NICKEL|BRASS|STEEL|COPPER")), "|"))
	containers = newDistribution(strings.Join(product(
		words("SM|LG|MED|JUMBO|WRAP"),
		words("CASE|BOX|BAG|JAR|PACK|PKG|CAN|DRUM")), "|"))

	colors = [colorCount]string(words("almond|antique|aquamarine|azure|beige|bisque|black|blanched|blue|blush|brown|burlywood|" +
		"burnished|chartreuse|chiffon|chocolate|coral|cornflower|cornsilk|cream|cyan|dark|deep|dim|dodger|drab|" +
		"firebrick|floral|forest|frosted|gainsboro|ghost|goldenrod|green|grey|honeydew|hot|indian|ivory|khaki|" +
		"lace|lavender|lawn|lemon|light|lime|linen|magenta|maroon|medium|metallic|midnight|mint|misty|moccasin|" +
		"navajo|navy|olive|orange|orchid|pale|papaya|peach|peru|pink|plum|powder|puff|purple|red|rose|rosy|royal|" +
		"saddle|salmon|sandy|seashell|sienna|sky|slate|smoke|snow|spring|steel|tan|thistle|tomato|turquoise|" +
		"violet|wheat|white|yellow"))
)

// The words and the grammar of pseudo text (clause 4.2.2.14).
var (
	nouns = newDistribution("packages:40|requests:40|accounts:40|deposits:40|foxes:20|ideas:20|theodolites:20|" +
		"pinto beans:20|instructions:20|dependencies:10|excuses:10|platelets:10|asymptotes:10|courts:5|dolphins:5|" +
		"multipliers|sauternes|warthogs|frets|dinos|attainments|somas|Tiresias|patterns|forges|braids|frays|" +
		"warhorses|dugouts|notornis|epitaphs|pearls|tithes|waters|orbits|gifts|sheaves|depths|sentiments|decoys|" +
		"realms|pains|grouches|escapades|hockey players")
	verbs = newDistribution("sleep:20|wake:20|are:20|cajole:20|haggle:20|nag:10|use:10|boost:10|affix:5|detect:5|" +
		"integrate:5|maintain|nod|was|lose|sublate|solve|thrash|promise|engage|hinder|print|x-ray|breach|eat|grow|" +
		"impress|mold|poach|serve|run|dazzle|snooze|doze|unwind|kindle|play|hang|believe|doubt")
	adjectives = newDistribution("special:20|pending:20|unusual:20|express:20|furious|sly|careful|blithe|quick|" +
		"fluffy|slow|quiet|ruthless|thin|close|dogged|daring|brave|stealthy|permanent|enticing|idle|busy|" +
		"regular:50|final:40|ironic:40|even:30|bold:20|silent:10")
	adverbs = newDistribution("sometimes|always|never|furiously:50|slyly:50|carefully:50|blithely:40|quickly:30|" +
		"fluffily:20|slowly|quietly|ruthlessly|thinly|closely|doggedly|daringly|bravely|stealthily|permanently|" +
		"enticingly|idly|busily|regularly|finally|ironically|evenly|boldly|silently")
	prepositions = newDistribution("about:50|above:50|according to:50|across:50|after:50|against:40|along:40|" +
		"alongside of:30|among:30|around:20|at:10|atop|before|behind|beneath|beside|besides|between|beyond|by|" +
		"despite|during|except|for|from|in place of|inside|instead of|into|near|of|on|outside|over|past|since|" +
		"through|throughout|to|toward|under|until|up|upon|whithout|with|within")
	auxiliaries = newDistribution("do|may|might|shall|will|would|can|could|should|ought to|must|will have to|" +
		"shall have to|could have to|should have to|must have to|need to|try to")
	terminators = newDistribution(".:50|;|:|?|!|--")

	sentences   = newDistribution("NVT:3|NVPT:3|NVNT:3|NPVNT|NPVPT")
	nounPhrases = newDistribution("N:10|JN:20|,JN:10|DJN:50")
	verbPhrases = newDistribution("V:30|XV|VD:40|XVD")
)
