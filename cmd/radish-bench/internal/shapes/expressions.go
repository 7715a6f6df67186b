package shapes

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/beside"
)

func shapeExpressions() []beside.Case {
	const group = "expressions"
	return []beside.Case{
		{Group: group, Name: "arithmetic of integers", SQL: "SELECT SUM((k * 3 + v) * 2 - h), SUM(k % 17 * g), MAX(v * CAST(v AS SIGNED) - k) FROM t",
			Duck: "SELECT SUM((k * 3 + v) * 2 - h), SUM(k % 17 * g), MAX(v * CAST(v AS BIGINT) - k) FROM t"},
		{Group: group, Name: "arithmetic of decimals", SQL: "SELECT SUM(amt * 1.19), SUM(amt * (1 - 0.05)), SUM(amt + v) FROM t"},
		{Group: group, Name: "doubles", SQL: "SELECT SUM(SQRT(x)), SUM(x * x / (1 + x)), SUM(ROUND(x, 2)) FROM t"},
		{Group: group, Name: "sums of CASE", SQL: "SELECT SUM(CASE WHEN g < 100 THEN amt ELSE 0 END), SUM(CASE WHEN v > 0 THEN 1 ELSE 0 END), " +
			"SUM(CASE g % 3 WHEN 0 THEN k WHEN 1 THEN v ELSE h END) FROM t"},
		{Group: group, Name: "CASE of strings by group", SQL: "SELECT CASE WHEN amt < 1000 THEN 'low' WHEN amt < 50000 THEN 'middle' ELSE 'high' END c, COUNT(*), SUM(v) FROM t GROUP BY c ORDER BY c"},
		{Group: group, Name: "COALESCE, NULLIF, GREATEST", SQL: "SELECT SUM(COALESCE(NULLIF(g, 7), 0)), COUNT(NULLIF(g, 8)), SUM(GREATEST(v, k, h)) FROM t"},
		{Group: group, Name: "year and month of dates", SQL: "SELECT YEAR(d) y, MONTH(d) m, COUNT(*), SUM(amt) FROM t GROUP BY YEAR(d), MONTH(d) ORDER BY y, m"},
		{Group: group, Name: "date arithmetic", SQL: "SELECT SUM(DATEDIFF(d, '2015-01-01')), SUM(YEAR(DATE_ADD(d, INTERVAL 45 DAY))), SUM(DAY(LAST_DAY(d))) FROM t",
			Duck: "SELECT SUM(DATEDIFF('day', DATE '2015-01-01', d)), SUM(YEAR(d + INTERVAL 45 DAY)), SUM(DAY(LAST_DAY(d))) FROM t"},
		{Group: group, Name: "dates formatted", SQL: counted("SELECT DATE_FORMAT(d, '%Y-%m') s, COUNT(*) n FROM t GROUP BY s"), Duck: counted("SELECT STRFTIME(d, '%Y-%m') s, COUNT(*) n FROM t GROUP BY s")},
		{Group: group, Name: "LIKE in the middle", SQL: "SELECT COUNT(*), MIN(id) FROM t WHERE url LIKE '%/science/%'"},
		{Group: group, Name: "LIKE of two pieces", SQL: "SELECT COUNT(*), MAX(id) FROM t WHERE url LIKE '%site12%ref=9%'"},
		{Group: group, Name: "LIKE prefix", SQL: "SELECT COUNT(*), SUM(v) FROM t WHERE name LIKE 'Greta F%'"},
		{Group: group, Name: "NOT LIKE", SQL: "SELECT COUNT(*), SUM(v) FROM t WHERE name NOT LIKE '%a%'"},
		{Group: group, Name: "REGEXP", SQL: "SELECT COUNT(*), SUM(id) FROM t WHERE REGEXP_LIKE(name, '^(Anna|Olga) [A-K].*7$')", Duck: "SELECT COUNT(*), SUM(id) FROM t WHERE REGEXP_MATCHES(name, '^(Anna|Olga) [A-K].*7$')"},
		{Group: group, Name: "REGEXP_REPLACE", SQL: "SELECT SUM(LENGTH(REGEXP_REPLACE(name, '[0-9]+', '#'))) FROM t", Duck: "SELECT SUM(LENGTH(REGEXP_REPLACE(name, '[0-9]+', '#', 'g'))) FROM t"},
		{Group: group, Name: "SUBSTRING, UPPER, CONCAT", SQL: "SELECT SUM(LENGTH(CONCAT(UPPER(SUBSTRING(name, 1, 3)), '-', code))), MAX(CONCAT(LOWER(name), code)) FROM t"},
		{Group: group, Name: "REPLACE, TRIM, LPAD", SQL: "SELECT SUM(LENGTH(REPLACE(name, 'a', 'bb'))), SUM(LENGTH(TRIM(CONCAT(' ', code, ' ')))), MIN(LPAD(code, 12, '*')) FROM t"},
		{Group: group, Name: "position in strings", SQL: "SELECT SUM(INSTR(url, 'ref')), SUM(LENGTH(SUBSTRING_INDEX(name, ' ', 1))) FROM t", Duck: "SELECT SUM(INSTR(url, 'ref')), SUM(LENGTH(SPLIT_PART(name, ' ', 1))) FROM t"},
		{Group: group, Name: "casts to strings and back", SQL: "SELECT SUM(CAST(SUBSTRING(code, 3, 6) AS SIGNED)), SUM(LENGTH(CAST(v AS CHAR))) FROM t", Duck: "SELECT SUM(CAST(SUBSTRING(code, 3, 6) AS BIGINT)), SUM(LENGTH(CAST(v AS VARCHAR))) FROM t"},
		{Group: group, Name: "JSON path, number", SQL: "SELECT SUM(CAST(JSON_EXTRACT(js, '$.user.age') AS SIGNED)) FROM t", Duck: "SELECT SUM(CAST(JSON_EXTRACT(js, '$.user.age') AS BIGINT)) FROM t"},
		{Group: group, Name: "JSON path, string by group", SQL: counted("SELECT JSON_UNQUOTE(JSON_EXTRACT(js, '$.tags[1]')) s, COUNT(*) n FROM t GROUP BY s"), Duck: counted("SELECT JSON_EXTRACT_STRING(js, '$.tags[1]') s, COUNT(*) n FROM t GROUP BY s")},
		{Group: group, Name: "IN of 1,000 strings", SQL: "SELECT COUNT(*), SUM(v) FROM t WHERE name IN (" + inList(1000, shapeName, 37) + ")"},
		{Group: group, Name: "IN of 1,000 numbers", SQL: "SELECT COUNT(*), SUM(v) FROM t WHERE k IN (" + strings.ReplaceAll(inList(1000, func(b []byte, n int64) []byte { return fmt.Append(b, n) }, 991), "'", "") + ")"},
		{Group: group, Name: "BETWEEN of strings", SQL: "SELECT COUNT(*), SUM(v) FROM t WHERE name BETWEEN 'Farid H' AND 'Ines C'"},
		{Group: group, Name: "strings compared with strings", SQL: "SELECT COUNT(*), SUM(v) FROM t WHERE SUBSTRING(name, 1, 4) < SUBSTRING(url, 17, 4) OR code > name"},
		{Group: group, Name: "many conditions", SQL: "SELECT COUNT(*), SUM(amt) FROM t WHERE g < 500 AND h > 1000 AND v > -500000 AND d >= DATE '2017-01-01' AND word <> 'word-1' AND amt > 10"},
		{Group: group, Name: "CASE of string columns by group", SQL: "SELECT SUM(n * LENGTH(c)) FROM (SELECT CASE WHEN g < 100 THEN word WHEN g < 200 THEN city WHEN g < 300 THEN code ELSE name END c, COUNT(*) n FROM t GROUP BY c) q"},
		{Group: group, Name: "conditions of functions", SQL: "SELECT COUNT(*), SUM(v) FROM t WHERE LENGTH(name) > 20 AND LOWER(word) LIKE 'word-1%' AND YEAR(d) IN (2016, 2018) AND MOD(k, 3) = 1"},
		{Group: group, Name: "OR of strings", SQL: "SELECT COUNT(*), SUM(v) FROM t WHERE name LIKE 'Anna%' OR url LIKE '%shop%' OR code = 'AA000000' OR word IN ('word-1', 'word-2')"},
		{Group: group, Name: "division and remainders", SQL: "SELECT ROUND(SUM(v / (g + 1)), 2), ROUND(AVG(amt / 7), 4), SUM(k DIV 7), SUM(MOD(v, 13)) FROM t",
			Duck: "SELECT ROUND(SUM(v / (g + 1)), 2), ROUND(AVG(amt / 7), 4), SUM(k // 7), SUM(MOD(v, 13)) FROM t"},
		{Group: group, Name: "LN, POW, SIN", SQL: "SELECT ROUND(SUM(LN(x + 1)), 3), ROUND(SUM(POW(g, 0.3)), 3), ROUND(SUM(SIN(x)), 3) FROM t"},
		{Group: group, Name: "bits", SQL: "SELECT BIT_XOR(k), BIT_OR(k & 255), SUM(k ^ g), SUM(k << 3) FROM t",
			Duck: "SELECT BIT_XOR(k), BIT_OR(k & 255), SUM(xor(k, g)), SUM(k::BIGINT << 3) FROM t"},
		{Group: group, Name: "conditions counted", SQL: "SELECT COUNT(IF(g < 10, 1, NULL)), SUM(IF(v > 0, amt, 0)), SUM(g BETWEEN 5 AND 50), SUM(word = 'word-1') FROM t",
			Duck: "SELECT COUNT(IF(g < 10, 1, NULL)), SUM(IF(v > 0, amt, 0)), SUM((g BETWEEN 5 AND 50)::INT), SUM((word = 'word-1')::INT) FROM t"},
		{Group: group, Name: "dates parsed", SQL: "SELECT COUNT(*), MAX(x) FROM (SELECT STR_TO_DATE(DATE_FORMAT(d, '%d.%m.%Y'), '%d.%m.%Y') x FROM t) q",
			Duck: "SELECT COUNT(*), MAX(x) FROM (SELECT CAST(STRPTIME(STRFTIME(d, '%d.%m.%Y'), '%d.%m.%Y') AS DATE) x FROM t) q"},
		{Group: group, Name: "casts to dates", SQL: "SELECT COUNT(*), MAX(CAST(CONCAT(YEAR(d), '-', LPAD(MONTH(d), 2, '0'), '-01') AS DATE)) FROM t",
			Duck: "SELECT COUNT(*), MAX(CAST(CONCAT(YEAR(d), '-', LPAD(MONTH(d)::VARCHAR, 2, '0'), '-01') AS DATE)) FROM t"},
		{Group: group, Name: "casts to decimals", SQL: "SELECT SUM(CAST(CONCAT(g, '.', h % 100) AS DECIMAL(12,2))) FROM t"},
	}
}

func shapeStrings() []beside.Case {
	const group = "strings and documents"
	return []beside.Case{
		{Group: group, Name: "SUBSTRING_INDEX by group", SQL: "SELECT COUNT(*), MAX(n) FROM (SELECT SUBSTRING_INDEX(SUBSTRING_INDEX(url, '/', 3), '.', -2) s, COUNT(*) n FROM t GROUP BY s) q",
			Duck: "SELECT COUNT(*), MAX(n) FROM (SELECT array_to_string(list_slice(string_split(array_to_string(list_slice(string_split(url, '/'), 1, 3), '/'), '.'), -2, -1), '.') s, COUNT(*) n FROM t GROUP BY s) q"},
		{Group: group, Name: "REGEXP_SUBSTR by group", SQL: "SELECT COUNT(*), MAX(n) FROM (SELECT REGEXP_SUBSTR(url, 'site[0-9]+') s, COUNT(*) n FROM t GROUP BY s) q",
			Duck: "SELECT COUNT(*), MAX(n) FROM (SELECT REGEXP_EXTRACT(url, 'site[0-9]+') s, COUNT(*) n FROM t GROUP BY s) q"},
		{Group: group, Name: "MD5", SQL: "SELECT MIN(MD5(name)), MAX(MD5(code)) FROM t"},
		{Group: group, Name: "REVERSE, REPEAT, LEFT, RIGHT", SQL: "SELECT MAX(REVERSE(name)), SUM(LENGTH(REPEAT(code, 3))), MIN(LEFT(url, 20)), MAX(RIGHT(url, 5)) FROM t"},
		{Group: group, Name: "CHAR_LENGTH, ASCII, LOCATE", SQL: "SELECT SUM(CHAR_LENGTH(name)), SUM(ASCII(code)), SUM(LOCATE('a', name)) FROM t",
			Duck: "SELECT SUM(LENGTH(name)), SUM(ASCII(code)), SUM(INSTR(name, 'a')) FROM t"},
		{Group: group, Name: "CONCAT_WS by group", SQL: counted("SELECT CONCAT_WS('|', g, YEAR(d), LEFT(code, 1)) s, COUNT(*) n FROM t GROUP BY s")},
		{Group: group, Name: "HEX", SQL: "SELECT MAX(HEX(name)), SUM(LENGTH(HEX(k))) FROM t"},
		{Group: group, Name: "FORMAT", SQL: "SELECT SUM(LENGTH(FORMAT(v, 2))) FROM t",
			Duck: "SELECT SUM(LENGTH(FORMAT('{:,.2f}', v::DOUBLE))) FROM t"},
		{Group: group, Name: "JSON paths, three", SQL: "SELECT SUM(CAST(JSON_EXTRACT(js, '$.price') AS SIGNED)), COUNT(DISTINCT JSON_UNQUOTE(JSON_EXTRACT(js, '$.user.name'))), MAX(JSON_UNQUOTE(JSON_EXTRACT(js, '$.tags[0]'))) FROM t",
			Duck: "SELECT SUM(CAST(JSON_EXTRACT(js, '$.price') AS BIGINT)), COUNT(DISTINCT JSON_EXTRACT_STRING(js, '$.user.name')), MAX(JSON_EXTRACT_STRING(js, '$.tags[0]')) FROM t"},
		{Group: group, Name: "JSON_LENGTH", SQL: "SELECT SUM(JSON_LENGTH(js, '$.tags')) FROM t",
			Duck: "SELECT SUM(JSON_ARRAY_LENGTH(js, '$.tags')) FROM t"},
	}
}
