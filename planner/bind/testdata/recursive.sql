WITH RECURSIVE r AS (SELECT id, s FROM t UNION ALL SELECT r.id + 1, CONCAT(r.s, 'x') FROM r WHERE r.id < 9) SELECT * FROM r
----
Project r.id#13, r.s#14
  Shared r (1) [r.id#13, r.s#14] of [id, s#7]
Shared r (1):
  Recursive r [id, s#7] of [t.id, s#8], [r.id + 1, CONCAT(r.s, 'x')]
    Project t.id, s#8 := CAST(t.s AS TEXT)
      Project t.id, t.s
        Scan t [t.id, t.a, t.d, t.s, t.day]
    Project r.id + 1 := r.id#9 + 1, CONCAT(r.s, 'x') := concat(r.s#10, 'x')
      Filter r.id#9 < 9
        WorkTable r [r.id#9, r.s#10]
=> id BIGINT, s TEXT

WITH RECURSIVE r(x, y) AS (SELECT 1, 2.5 UNION DISTINCT SELECT y, x FROM r) SELECT y FROM r
----
Project r.y#11
  Shared r (1) [r.x#10, r.y#11] of [x#3, y#4]
Shared r (1):
  Recursive r [x#3, y#4] of [1, 2.5#5], [y#8, x#9] distinct
    Project 1, 2.5#5 := CAST(2.5#2 AS DECIMAL(38,1))
      Project 1 := 1, 2.5#2 := 2.5
        Values [] 1 rows
    Project y#8 := CAST(r.y#7 AS BIGINT), x#9 := CAST(r.x#6 AS DECIMAL(38,1))
      Project r.y#7, r.x#6
        WorkTable r [r.x#6, r.y#7]
=> y DECIMAL(38,1)

WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT n + 1 FROM r WHERE n < 3 UNION SELECT b FROM u JOIN r ON u.id = r.n) SELECT * FROM r a, r b
----
Project a.n, b.n
  CrossJoin
    Shared r (1) [a.n] of [n#2]
    Shared r (1) [b.n] of [n#2]
Shared r (1):
  Recursive r [n#2] of [n#1], [n#9] distinct
    Project n#1 := 1
      Values [] 1 rows
    UnionAll [n#9] of [n + 1], [b]
      Project n + 1 := r.n#3 + 1
        Filter r.n#3 < 3
          WorkTable r [r.n#3]
      Project b := CAST(u.b AS BIGINT)
        Project u.b
          InnerJoin ON u.id = r.n#7
            Scan u [u.id, u.b]
            WorkTable r [r.n#7]
=> n BIGINT, n BIGINT

WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r LIMIT 5 OFFSET 1) SELECT * FROM r
----
Project r.n#5
  Shared r (1) [r.n#5] of [n#2]
Shared r (1):
  Limit 5 OFFSET 1
    Recursive r [n#2] of [n#1], [n + 1] until 6 rows
      Project n#1 := 1
        Values [] 1 rows
      Project n + 1 := r.n#3 + 1
        WorkTable r [r.n#3]
=> n BIGINT

WITH RECURSIVE r AS (SELECT id FROM t) SELECT * FROM r
----
Project r.id
  Shared r (1) [r.id] of [t.id]
Shared r (1):
  Project t.id
    Scan t [t.id, t.a, t.d, t.s, t.day]
=> id BIGINT

WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT 2) SELECT * FROM r
----
Project r.n
  Shared r (1) [r.n] of [n#5]
Shared r (1):
  Union [n#5] of [n#3], [2]
    Project n#3 := 1
      Values [] 1 rows
    Project 2 := 2
      Values [] 1 rows
=> n BIGINT

SELECT (WITH RECURSIVE r AS (SELECT t.id AS n UNION ALL SELECT n - 1 FROM r WHERE n > t.a) SELECT COUNT(*) FROM r) FROM t
----
Project (WITH RECURSIVE r AS (SELECT t.id AS n UNION ALL SELECT n - 1 FROM r WHERE n > t.a) SELECT COUNT(*) FROM r) := (Project count(*))
  subquery: Project count(*)
    Aggregate: count(*) := count(*)
      Recursive r [n#11] of [n#10], [n - 1]
        Project n#10 := t.id
          Values [] 1 rows
        Project n - 1 := r.n - 1
          Filter r.n > t.a
            WorkTable r [r.n]
  Scan t [t.id, t.a, t.d, t.s, t.day]
=> (WITH RECURSIVE r AS (SELECT t.id AS n UNION ALL SELECT n - 1 FROM r WHERE n > t.a) SELECT COUNT(*) FROM r) BIGINT

WITH RECURSIVE r AS (SELECT n + 1 FROM r) SELECT * FROM r
----
error: Error 3573 (HY000): Recursive Common Table Expression 'r' should contain a UNION

WITH RECURSIVE r AS (SELECT n + 1 AS n FROM r UNION ALL SELECT 1) SELECT * FROM r
----
error: Error 3574 (HY000): Recursive Common Table Expression 'r' should have one or more non-recursive query blocks followed by one or more recursive ones

WITH RECURSIVE r AS (SELECT 1 AS n INTERSECT SELECT n FROM r) SELECT * FROM r
----
error: Error 3573 (HY000): Recursive Common Table Expression 'r' should contain a UNION

WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT SUM(n) FROM r) SELECT * FROM r
----
error: Error 3575 (HY000): Recursive Common Table Expression 'r' can contain neither aggregation nor window functions in recursive query block

WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT RANK() OVER () FROM r) SELECT * FROM r
----
error: Error 3575 (HY000): Recursive Common Table Expression 'r' can contain neither aggregation nor window functions in recursive query block

WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT DISTINCT n FROM r) SELECT * FROM r
----
error: Error 3575 (HY000): Recursive Common Table Expression 'r' can contain neither aggregation nor window functions in recursive query block

WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT a.n FROM r a, r b) SELECT * FROM r
----
error: Error 3576 (HY000): In recursive query block of Recursive Common Table Expression 'r', the recursive table must be referenced only once, and not in any subquery

WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT 2 WHERE 3 IN (SELECT n FROM r)) SELECT * FROM r
----
error: Error 3576 (HY000): In recursive query block of Recursive Common Table Expression 'r', the recursive table must be referenced only once, and not in any subquery

WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT r.n FROM t LEFT JOIN r ON t.id = r.n) SELECT * FROM r
----
error: Error 3577 (HY000): In recursive query block of Recursive Common Table Expression 'r', the recursive table must neither be in the right argument of a LEFT JOIN, nor be forced to be non-first with join order hints

WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n, n FROM r) SELECT * FROM r
----
error: Error 1222 (21000): The used SELECT statements have a different number of columns

WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT nope FROM r) SELECT * FROM r
----
error: Error 1054 (42S22) at line 1, column 53: Unknown column 'nope' in 'field list'

WITH r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r
----
error: Error 1146 (42S02): Table 'db.r' doesn't exist

WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM s), s AS (SELECT n FROM r) SELECT * FROM r
----
error: Error 1146 (42S02): Table 'db.s' doesn't exist
