package fuzz

import "regexp"

// What the generator leaves out on purpose, because MariaDB is no judge of it:
//
//   - Quotients and averages inside larger expressions: MySQL and MariaDB carry digits beyond the declared scale into
//     the surrounding expression, and how many depends on the implementation's word size. They are compared where
//     they are shown (generator.final).
//   - Arithmetic that may leave the range of its type: whether an overflow in a row that a filter removes anyway is an
//     error depends on the order of evaluation. Types carry a bound of their digits.
//   - Signed and unsigned integers in one sum or product, for the same reason.
//   - Decimals of more than 28 digits in a computation: MySQL has 65 digits, Radish 38.
//   - Doubles that are no multiples of a quarter, where they would be summed: the sum depends on the order.
//   - The bare word NULL in arithmetic, and its type: it stands in IN lists, elsewhere NULLs have a type.
//   - Division by zero in INSERT, UPDATE and DELETE (DELETE is an error in MySQL, not in MariaDB), and constants as group keys.
//   - BIT_OR and its like of DECIMALs above 2^63, and dates compared with text that is no date.
//   - Variances of integers and decimals: MariaDB rounds them to four digits, MySQL does not.
//   - Invalid dates and numbers as text: MySQL 8 makes errors of some that MariaDB turns into warnings.
//   - Outer references in derived tables (MySQL's LATERAL): MariaDB has none.
//   - INTERSECT ALL and EXCEPT ALL together with further set operators: MariaDB 10.11 may not come to an end.
//   - SELECT DISTINCT of expressions over aggregates: MariaDB loses rows of SELECT DISTINCT 9.0 - COUNT(*) ... GROUP BY k.
//   - INTERSECT and EXCEPT directly in IN, ANY and ALL: MariaDB 10.11 answers 1 NOT IN (SELECT NULL FROM empty INTERSECT
//     SELECT 1) with NULL.
//   - Keys compared with numbers that are no integers: MariaDB looks id = 12.25e0 up as id = 12 on the right of a LEFT JOIN.
//   - OFFSET over SELECT DISTINCT: MariaDB forgets it where all columns are constant.
//   - FLOOR, CEIL and ROUND of doubles inside larger expressions: MySQL shows ROUND(7e0) / 74 with four digits behind the
//     point, as it takes ROUND's result for a number with none.
//   - LIMIT directly in IN, ANY and ALL subqueries: both refuse it.
//   - Reading a statement's own target in a subquery: MySQL refuses it, MariaDB does not.
//   - The order of rows that a sort leaves equal, and LIMIT without a sort of all output columns.
//   - Trailing spaces and letter case: both engines run with a collation without padding, by code point.

// tolerated are answers of one side only which say nothing about Radish.
var tolerated = []struct {
	message *regexp.Regexp // of MariaDB's error while Radish answers
	why     string
}{
	{regexp.MustCompile(`max_statement_time`), "the oracle took too long"},
	{regexp.MustCompile(`Error 1055 `), "MariaDB does not find a group's expression again in the select list"},
	{regexp.MustCompile(`Error 1463 `), "MariaDB does not find a group's column again in HAVING"},
	{regexp.MustCompile(`Error 1052 .*(GROUP BY|HAVING)`), "MariaDB finds a name twice in the select list where USING made one column of it"},
	{regexp.MustCompile(`Error 1054 `), "MariaDB confuses group keys of one name, and does not see them from subqueries in HAVING"},
	{regexp.MustCompile(`Error 1060 `), "MariaDB wraps the selects of a mixed set operation into derived tables, whose columns need names of their own"},
	{regexp.MustCompile(`Error 1247 .*forward reference`), "MariaDB takes an outer column for one of the select list"},
	{regexp.MustCompile(`Error 1235 `), "MariaDB lacks the form of the subquery"},
	{regexp.MustCompile(`Error 1406 .*group_concat`), "GROUP_CONCAT beyond its maximum length"},
}

// refusals are Radish's errors that say honestly that it cannot: counted, not failed.
var refusals = regexp.MustCompile(`(?i)not supported|unsupported|not implemented|more than 38 digits|precision`)
