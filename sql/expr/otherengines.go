package expr

// otherEngines are functions of other engines that people try, and what to write for them; by their lower-case names.
var otherEngines = map[string]string{
	"age": "write TIMESTAMPDIFF(unit, a, b)", "datediff_big": "write TIMESTAMPDIFF(unit, a, b)",
	"date_part": "write EXTRACT(unit FROM d)", "datepart": "write EXTRACT(unit FROM d)", "dateadd": "write DATE_ADD(d, INTERVAL n unit)",
	"date_trunc": "write DATE_FORMAT(d, '%Y-%m-01') for the month, DATE(d) for the day",
	"strftime":   "write DATE_FORMAT(d, '%Y-%m-%d')", "to_char": "write DATE_FORMAT(d, '%Y-%m-%d') or FORMAT(x, 2)",
	"strptime": "write STR_TO_DATE(s, '%Y-%m-%d')", "to_date": "write STR_TO_DATE(s, '%Y-%m-%d')",
	"to_timestamp": "write FROM_UNIXTIME(n) or STR_TO_DATE(s, '%Y-%m-%d %H:%i:%s')", "make_date": "write MAKEDATE(year, 1) + INTERVAL n DAY",
	"epoch": "write UNIX_TIMESTAMP(t)", "julianday": "write TO_DAYS(d)", "today": "write CURDATE()", "getdate": "write NOW()",

	"string_agg": byConcat, "listagg": byConcat, "list_agg": byConcat,
	"array_agg": "write JSON_ARRAYAGG(a) or GROUP_CONCAT(a)", "json_agg": "write JSON_ARRAYAGG(a)", "json_group_array": "write JSON_ARRAYAGG(a)",
	"json_object_agg": "write JSON_OBJECTAGG(k, v)", "json_group_object": "write JSON_OBJECTAGG(k, v)",
	"percentile_cont": "write QUANTILE_CONT(a, 0.5)", "percentile_disc": "write QUANTILE_DISC(a, 0.5)", "percentile": "write QUANTILE_CONT(a, 0.5)",
	"approx_quantile": "write QUANTILE_CONT(a, 0.5)", "approx_percentile": "write QUANTILE_CONT(a, 0.5)",
	"bool_and": "write MIN(condition)", "bool_or": "write MAX(condition)", "every": "write MIN(condition)",
	"count_if": "write SUM(condition)", "countif": "write SUM(condition)", "sum_if": "write SUM(IF(condition, a, 0))",
	"first": "write ANY_VALUE(a), or FIRST_VALUE(a) OVER (ORDER BY b)", "last": "write LAST_VALUE(a) OVER (...)", "arbitrary": "write ANY_VALUE(a)",
	"approx_distinct": "write APPROX_COUNT_DISTINCT(a)",

	"nvl": "write IFNULL(a, b)", "iif": "write IF(condition, a, b)", "decode": "write CASE a WHEN b THEN c ELSE d END", "try_cast": "write CAST(a AS type)",
	"len": "write CHAR_LENGTH(s)", "charindex": "write LOCATE(part, s)", "strpos": "write LOCATE(part, s)", "contains": "write LOCATE(part, s) > 0",
	"starts_with": "write s LIKE 'part%'", "startswith": "write s LIKE 'part%'", "ends_with": "write s LIKE '%part'", "split_part": "write SUBSTRING_INDEX(s, delimiter, n)",
	"regexp_matches": "write REGEXP_LIKE(s, pattern)", "regexp_extract": "write REGEXP_SUBSTR(s, pattern)", "printf": "write CONCAT(...) or FORMAT(x, digits)",
	"trunc": "write TRUNCATE(x, digits)", "random": "write RAND()", "gen_random_uuid": "write UUID()", "uuid_generate_v4": "write UUID()", "newid": "write UUID()",
	"json_extract_string": "write JSON_UNQUOTE(JSON_EXTRACT(doc, path)), or column->>path", "json_array_length": "write JSON_LENGTH(doc)", "to_json": "write CAST(a AS JSON)",
	"last_insert_rowid": "write LAST_INSERT_ID()", "changes": "write ROW_COUNT()", "current_schema": "write DATABASE()",
	"unnest": bySeries, "generate_series": bySeries, "range": bySeries,
}

const (
	byConcat = "write GROUP_CONCAT(a ORDER BY b SEPARATOR ',')"
	bySeries = "write FROM generate_series(1, 10) AS s(i) for numbers, JSON_TABLE for the items of documents"
)
