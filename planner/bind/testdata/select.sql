SELECT id, a + 1 AS x, d * 2, 'text' FROM t WHERE a > 5 AND s LIKE 'x%' ORDER BY x DESC, d LIMIT 3 OFFSET 1
----
Limit 3 OFFSET 1
  Sort x DESC, t.d
    Project t.id, x := t.a + 1, d * 2 := t.d * 2, text := 'text', t.d
      Filter t.a > 5 AND t.s LIKE 'x%'
        Scan t [t.id, t.a, t.d, t.s, t.day]
=> id BIGINT, x BIGINT, d * 2 DECIMAL(16,2), text VARCHAR(4)

SELECT * FROM t JOIN u USING (id)
----
Project t.id, t.a, t.d, t.s, t.day, u.b
  InnerJoin ON t.id = u.id
    Scan t [t.id, t.a, t.d, t.s, t.day]
    Scan u [u.id, u.b]
=> id BIGINT, a INT, d DECIMAL(15,2), s VARCHAR(10), day DATE, b INT

SELECT t.*, b FROM t NATURAL RIGHT JOIN u
----
Project t.id, t.a, t.d, t.s, t.day, u.b
  LeftJoin ON t.id = u.id
    Scan u [u.id, u.b]
    Scan t [t.id, t.a, t.d, t.s, t.day]
=> id BIGINT, a INT, d DECIMAL(15,2), s VARCHAR(10), day DATE, b INT

SELECT a, sum(d), count(*) FROM t GROUP BY a HAVING count(*) > 1 ORDER BY sum(d)
----
Sort sum(t.d)
  Project t.a, sum(t.d), count(*)
    Filter count(*) > 1
      Aggregate BY t.a: sum(t.d) := sum(t.d), count(*) := count(*)
        Scan t [t.id, t.a, t.d, t.s, t.day]
=> a INT, sum(d) DECIMAL(37,2), count(*) BIGINT

SELECT id, s, count(*) FROM t GROUP BY id
----
Project t.id, t.s#7, count(*)
  Aggregate BY t.id: count(*) := count(*), t.s#7 := any_value(t.s#4)
    Scan t [t.id, t.a, t.d, t.s#4, t.day]
=> id BIGINT, s VARCHAR(10), count(*) BIGINT

SELECT s, count(*) FROM t GROUP BY a
----
error: Error 1055 (42000): Expression #1 of SELECT list is not in GROUP BY clause and contains nonaggregated column 'db.t.s' which is not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by

SELECT a FROM t HAVING a > 1
----
Project t.a
  Filter t.a > 1
    Scan t [t.id, t.a, t.d, t.s, t.day]
=> a INT

SELECT count(*), a FROM t
----
error: Error 1140 (42000): In aggregated query without GROUP BY, expression #2 of SELECT list contains nonaggregated column 'db.t.a'; this is incompatible with sql_mode=only_full_group_by

SELECT DISTINCT a FROM t ORDER BY b
----
error: Error 1054 (42S22) at line 1, column 35: Unknown column 'b' in 'order clause'

SELECT DISTINCT a FROM t ORDER BY d
----
error: Error 3065 (HY000): Expression #1 of ORDER BY clause is not in SELECT list, references column 't.d' which is not in SELECT list; this is incompatible with DISTINCT

SELECT nope FROM t
----
error: Error 1054 (42S22) at line 1, column 8: Unknown column 'nope' in 'field list'

SELECT id FROM t, u
----
error: Error 1052 (23000) at line 1, column 8: Column 'id' in field list is ambiguous

SELECT * FROM missing
----
error: Error 1146 (42S02): Table 'db.missing' doesn't exist

SELECT * FROM t AS t1, t AS t1
----
error: Error 1066 (42000): Not unique table/alias: 't1'

SELECT a FROM t WHERE id IN (SELECT id FROM u WHERE b = t.a)
----
Project t.a
  Filter (t.id) IN (Project u.id)
    subquery: Project u.id
      Filter u.b = t.a
        Scan u [u.id, u.b]
    Scan t [t.id, t.a, t.d, t.s, t.day]
=> a INT

SELECT a, (SELECT max(b) FROM u WHERE u.id = t.id) m FROM t
----
Project t.a, m := (Project max(u.b))
  subquery: Project max(u.b)
    Aggregate: max(u.b) := max(u.b)
      Filter u.id = t.id
        Scan u [u.id, u.b]
  Scan t [t.id, t.a, t.d, t.s, t.day]
=> a INT, m INT

SELECT a FROM t WHERE (a, d) = (SELECT b, 1 FROM u)
----
Project t.a
  Filter (t.a, CAST(t.d AS DECIMAL(21,2))) IN (Project b, 1 := CAST(1 AS DECIMAL(21,2)))
    subquery: Project b, 1#11 := CAST(1#10 AS DECIMAL(21,2))
      Aggregate: b := single_value(u.b), 1#10 := single_value(1#8)
        Project u.b, 1#8 := 1
          Scan u [u.id, u.b]
    Scan t [t.id, t.a, t.d, t.s, t.day]
=> a INT

SELECT a FROM t WHERE a > ALL (SELECT b FROM u)
----
Project t.a
  Filter (t.a) > ALL (Project u.b)
    subquery: Project u.b
      Scan u [u.id, u.b]
    Scan t [t.id, t.a, t.d, t.s, t.day]
=> a INT

SELECT a FROM t UNION SELECT b FROM u ORDER BY 1 LIMIT 2
----
Limit 2
  Sort a
    Union [a] of [t.a], [u.b]
      Project t.a
        Scan t [t.id, t.a, t.d, t.s, t.day]
      Project u.b
        Scan u [u.id, u.b]
=> a INT

SELECT a FROM t UNION ALL SELECT s FROM t
----
UnionAll [a#11] of [a#12], [s]
  Project a#12 := CAST(t.a#2 AS VARCHAR(11))
    Project t.a#2
      Scan t [t.id#1, t.a#2, t.d#3, t.s#4, t.day#5]
  Project s := CAST(t.s#9 AS VARCHAR(11))
    Project t.s#9
      Scan t [t.id#6, t.a#7, t.d#8, t.s#9, t.day#10]
=> a VARCHAR(11)

SELECT a FROM t EXCEPT SELECT b FROM u INTERSECT SELECT 1
----
Except [a#11] of [a#12], [b#9]
  Project a#12 := CAST(t.a AS BIGINT)
    Project t.a
      Scan t [t.id, t.a, t.d, t.s, t.day]
  Intersect [b#9] of [b#10], [1]
    Project b#10 := CAST(u.b AS BIGINT)
      Project u.b
        Scan u [u.id, u.b]
    Project 1 := 1
      Values [] 1 rows
=> a BIGINT

WITH c AS (SELECT a, count(*) n FROM t GROUP BY a) SELECT x.a FROM c x JOIN c y ON x.n = y.n
----
Project x.a
  InnerJoin ON x.n = y.n
    Shared c (1) [x.a, x.n] of [t.a, count(*)]
    Shared c (1) [y.a, y.n] of [t.a, count(*)]
Shared c (1):
  Project t.a, count(*)
    Aggregate BY t.a: count(*) := count(*)
      Scan t [t.id, t.a, t.d, t.s, t.day]
=> a INT

SELECT * FROM v WHERE n > 1
----
Project t.a, count(*)
  Filter count(*) > 1
    Project t.a, count(*)
      Aggregate BY t.a: count(*) := count(*)
        Scan t [t.id, t.a, t.d, t.s, t.day]
=> a INT, n BIGINT

VALUES ROW(1, 'a'), ROW(2.5, 'bcd')
----
Values [column_0, column_1] 2 rows (CAST(1 AS DECIMAL(20,1)), CAST('a' AS VARCHAR(3))), (CAST(2.5 AS DECIMAL(20,1)), 'bcd')
=> column_0 DECIMAL(20,1), column_1 VARCHAR(3)

TABLE u LIMIT 1
----
Limit 1
  Project u.id, u.b
    Scan u [u.id, u.b]
=> id BIGINT, b INT

SELECT sum(count(*)) FROM t
----
error: Error 1111 (HY000) at line 1, column 12: Invalid use of group function

SELECT a FROM t WHERE count(*) > 1
----
error: Error 1111 (HY000) at line 1, column 23: Invalid use of group function

SELECT (SELECT sum(t.a) FROM u LIMIT 1) FROM t GROUP BY a
----
Project (SELECT sum(t.a) FROM u LIMIT 1) := (Limit 1)
  subquery: Limit 1
    Project sum(t.a)#9 := sum(t.a)#8
      Scan u [u.id, u.b]
  Aggregate BY t.a: sum(t.a)#8 := sum(t.a)
    Scan t [t.id, t.a, t.d, t.s, t.day]
=> (SELECT sum(t.a) FROM u LIMIT 1) DECIMAL(32,0)

SELECT day + INTERVAL 1 MONTH, extract(YEAR FROM day), DATE '2020-01-31' FROM t
----
Project day + INTERVAL 1 MONTH := t.day + INTERVAL 1 MONTH, extract(YEAR FROM day) := extract(YEAR FROM t.day), DATE '2020-01-31' := dateliteral('2020-01-31')
  Scan t [t.id, t.a, t.d, t.s, t.day]
=> day + INTERVAL 1 MONTH DATE, extract(YEAR FROM day) BIGINT, DATE '2020-01-31' DATE

SELECT CASE a WHEN 1 THEN 'one' ELSE s END, a BETWEEN 1 AND 3, a IS NOT TRUE, NOT a FROM t
----
Project CASE a WHEN 1 THEN 'one' ELSE s END := CASE WHEN t.a = 1 THEN 'one' ELSE t.s END, a BETWEEN 1 AND 3 := (t.a >= 1) AND (t.a <= 3), a IS NOT TRUE := NOT ((t.a <> 0) <=> 1), NOT a := NOT (t.a <> 0)
  Scan t [t.id, t.a, t.d, t.s, t.day]
=> CASE a WHEN 1 THEN 'one' ELSE s END VARCHAR(10), a BETWEEN 1 AND 3 BOOLEAN, a IS NOT TRUE BOOLEAN, NOT a BOOLEAN

SELECT row_number() OVER () FROM t
----
Project row_number()
  Window: row_number() := row_number()
    Scan t [t.id, t.a, t.d, t.s, t.day]
=> row_number() OVER () BIGINT UNSIGNED

SELECT * FROM t WHERE (id, a) IN ((1, 2), (3, 4)) AND (id, a) < (5, 6)
----
Project t.id, t.a, t.d, t.s, t.day
  Filter (((t.id = 1) AND (t.a = 2)) OR ((t.id = 3) AND (t.a = 4))) AND ((t.id < 5) OR ((t.id = 5) AND (t.a < 6)))
    Scan t [t.id, t.a, t.d, t.s, t.day]
=> id BIGINT, a INT, d DECIMAL(15,2), s VARCHAR(10), day DATE

SELECT 0xff + a, -b'101', x'41', concat(0x41, 'b') FROM t
----
Project 0xff + a := 255 + t.a, -b'101' := -5, x'41' := 'A', concat(0x41, 'b') := concat('A', 'b')
  Scan t [t.id, t.a, t.d, t.s, t.day]
=> 0xff + a BIGINT UNSIGNED, -b'101' BIGINT, x'41' VARBINARY(1), concat(0x41, 'b') VARBINARY(2)
