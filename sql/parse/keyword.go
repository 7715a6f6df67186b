package parse

// keyword numbers the words that splitting, guarding and refusing look for; 0 is any other word.
type keyword uint8

const (
	kwNone keyword = iota
	kwAnd
	kwAnti
	kwAs
	kwAsof
	kwBetween
	kwBinary
	kwBy
	kwCase
	kwCollate
	kwCross
	kwCube
	kwDistinct
	kwDiv
	kwElse
	kwEnd
	kwExcept
	kwFrom
	kwFull
	kwGroup
	kwHaving
	kwIn
	kwInner
	kwIntersect
	kwInto
	kwIs
	kwJoin
	kwLateral
	kwLeft
	kwLike
	kwLimit
	kwMod
	kwNatural
	kwNot
	kwOn
	kwOr
	kwOrder
	kwOuter
	kwPositional
	kwRegexp
	kwRight
	kwSelect
	kwSemi
	kwSet
	kwStraightJoin
	kwTable
	kwThen
	kwUnion
	kwUpdate
	kwUsing
	kwWhen
	kwWhere
	kwXor
)

var keywords = map[string]keyword{
	"AND": kwAnd, "ANTI": kwAnti, "AS": kwAs, "ASOF": kwAsof, "BETWEEN": kwBetween, "BINARY": kwBinary, "BY": kwBy,
	"CASE": kwCase, "COLLATE": kwCollate, "CROSS": kwCross, "CUBE": kwCube, "DISTINCT": kwDistinct, "DIV": kwDiv,
	"ELSE": kwElse, "END": kwEnd, "EXCEPT": kwExcept, "FROM": kwFrom, "FULL": kwFull, "GROUP": kwGroup,
	"HAVING": kwHaving, "IN": kwIn, "INNER": kwInner, "INTERSECT": kwIntersect, "INTO": kwInto, "IS": kwIs,
	"JOIN": kwJoin, "LATERAL": kwLateral, "LEFT": kwLeft, "LIKE": kwLike, "ILIKE": kwLike, "LIMIT": kwLimit,
	"MOD": kwMod, "NATURAL": kwNatural, "NOT": kwNot, "ON": kwOn, "OR": kwOr, "ORDER": kwOrder, "OUTER": kwOuter,
	"POSITIONAL": kwPositional, "REGEXP": kwRegexp, "RLIKE": kwRegexp, "RIGHT": kwRight, "SELECT": kwSelect,
	"SEMI": kwSemi, "SET": kwSet, "STRAIGHT_JOIN": kwStraightJoin, "TABLE": kwTable, "THEN": kwThen,
	"UNION": kwUnion, "UPDATE": kwUpdate, "USING": kwUsing, "WHEN": kwWhen, "WHERE": kwWhere, "XOR": kwXor,
}

const longestKeyword = len("STRAIGHT_JOIN")

func lookupKeyword(word string) keyword {
	if len(word) < 2 || len(word) > longestKeyword {
		return kwNone
	}
	var upper [longestKeyword]byte
	for i := range len(word) {
		c := word[i]
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		upper[i] = c
	}
	return keywords[string(upper[:len(word)])]
}

// notOperand holds the words behind which an operand, a table or a clause still has to come: none of them can be the
// end of a table reference or of a condition.
var notOperand = [256]bool{
	kwAnd: true, kwAs: true, kwBetween: true, kwBinary: true, kwBy: true, kwCase: true, kwCollate: true, kwCross: true,
	kwDistinct: true, kwDiv: true, kwElse: true, kwExcept: true, kwFrom: true, kwHaving: true, kwIn: true,
	kwInner: true, kwIntersect: true, kwInto: true, kwIs: true, kwJoin: true, kwLateral: true, kwLeft: true,
	kwLike: true, kwLimit: true, kwMod: true, kwNatural: true, kwNot: true, kwOn: true, kwOr: true, kwOuter: true,
	kwRegexp: true, kwRight: true, kwSelect: true, kwSet: true, kwStraightJoin: true, kwTable: true, kwThen: true,
	kwUnion: true, kwUpdate: true, kwUsing: true, kwWhen: true, kwWhere: true, kwXor: true,
}
