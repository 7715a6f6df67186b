package engine

import "testing"

// What assignments within a SELECT are refused, and that a prepared one can be run again; what they give is in test/sqllogic.
func TestAssigning(t *testing.T) {
	play(t, "CREATE TABLE t (id INT PRIMARY KEY, n INT); INSERT INTO t VALUES (1, 5), (2, 6), (3, NULL)", `
		a SELECT id, IF(n > 5, @a := n, 0) FROM t => error 1235
		a SELECT id FROM t WHERE (@a := n) > 1 => error 1235
		a SELECT n, @a := 1 FROM t GROUP BY n => error 1235
		a SELECT DISTINCT @a := n FROM t => error 1235
		a SELECT @a := SUM(n) FROM t => error 1235
		a SELECT @a := (SELECT 1) => error 1235
		a SELECT * FROM (SELECT @a := n FROM t) x => error 1235
		a SELECT @a := n FROM t UNION SELECT 1 => error 1235
		a SELECT id, @a := n FROM t ORDER BY 1 => error 1235
		a SELECT @a := nothing FROM t => error 1054
		a INSERT INTO t SELECT 9, @a := 1 => error 1235
		a SELECT COUNT(*) FROM (SELECT @z := 7 AS z) x => 1
		a SELECT @z => 7
		a SET @n = 0
		a PREPARE p FROM 'SELECT @n := @n + n * ? AS x FROM t, (SELECT @k := ?) i WHERE id = 1'
		a SET @two = 2, @three = 3
		a EXECUTE p USING @two, @three => 10
		a EXECUTE p USING @three, @two => 25
		a SELECT @n, @k => 25|2
		a SELECT @d := n / 4 AS d, ':=' AS text FROM t WHERE id = 1 => 1.250000000|:=
		a SELECT @d, @d + 1 => 1.250000000|2.250000000
		a SELECT id, @u := id FROM t WHERE id > 9
		a SELECT @m := n FROM t WHERE id = 3 => NULL
		a SELECT @m IS NULL => 1`)
}

func TestFoundRows(t *testing.T) {
	play(t, "CREATE TABLE t (id INT PRIMARY KEY, n INT); INSERT INTO t VALUES (1, 5), (2, 6), (3, NULL), (4, 6)", `
		a SELECT FOUND_ROWS() => 0
		a SELECT GROUP_CONCAT(id) FROM t GROUP BY n > 100 ORDER BY 1 LIMIT 0
		a SELECT FOUND_ROWS() => 0
		a SELECT NULL FROM t WHERE n = 6
		a SELECT FOUND_ROWS() => 2
		a SELECT FOUND_ROWS() => 1
		a (SELECT id FROM t WHERE id = 1) UNION (SELECT id FROM t WHERE id = 1) => 1
		a SELECT FOUND_ROWS() => 1
		a SELECT id FROM t ORDER BY id LIMIT 1 => 1
		a SELECT FOUND_ROWS() => 1
		a SELECT SQL_CALC_FOUND_ROWS id FROM t ORDER BY id LIMIT 1 OFFSET 2 => 3
		a SELECT FOUND_ROWS() => 4
		a SELECT SQL_CALC_FOUND_ROWS n, COUNT(*) FROM t WHERE n IS NOT NULL GROUP BY n ORDER BY n LIMIT 1 => 5|1
		a SELECT FOUND_ROWS() => 2
		a SELECT SQL_CALC_FOUND_ROWS id FROM t UNION ALL SELECT id FROM t ORDER BY id LIMIT 1 OFFSET 2 => 2
		a SELECT FOUND_ROWS() => 8
		a SELECT id FROM t UNION ALL SELECT id FROM t ORDER BY id LIMIT 1 OFFSET 2 => 2
		a SELECT FOUND_ROWS() => 1`)
}
