SELECT t.id, d.b FROM t, LATERAL (SELECT b FROM u WHERE u.id = t.id) d
----
Project t.id, u.b
  CrossJoin
    Scan t [t.id, t.a, t.d, t.s, t.day]
    Project u.b
      Filter u.id = t.id
        Scan u [u.id, u.b]
=> id BIGINT, b INT

SELECT t.id, d.b, e.c FROM t JOIN u ON t.id = u.id LEFT JOIN LATERAL (SELECT b FROM u v WHERE v.id = u.b + t.a) d ON TRUE, LATERAL (SELECT d.b + t.a AS c) e
----
Project t.id, v.b, c
  CrossJoin
    LeftJoin ON 1
      InnerJoin ON t.id = u.id
        Scan t [t.id, t.a, t.d, t.s, t.day]
        Scan u [u.id, u.b]
      Project v.b
        Filter v.id = (u.b + t.a)
          Scan u AS v [v.id, v.b]
    Project c := v.b + t.a
      Values [] 1 rows
=> id BIGINT, b INT, c BIGINT

SELECT * FROM t, LATERAL (SELECT x.id FROM u x, LATERAL (SELECT x.b + t.a AS c) y WHERE y.c > 0) d
----
Project t.id, t.a, t.d, t.s, t.day, x.id
  CrossJoin
    Scan t [t.id, t.a, t.d, t.s, t.day]
    Project x.id
      Filter c > 0
        CrossJoin
          Scan u AS x [x.id, x.b]
          Project c := x.b + t.a
            Values [] 1 rows
=> id BIGINT, a INT, d DECIMAL(15,2), s VARCHAR(10), day DATE, id BIGINT

SELECT (SELECT d.c FROM u, LATERAL (SELECT u.b + t.a AS c) d LIMIT 1) FROM t
----
Project (SELECT d.c FROM u, LATERAL (SELECT u.b + t.a AS c) d LIMIT 1) := (Limit 1)
  subquery: Limit 1
    Project c
      CrossJoin
        Scan u [u.id, u.b]
        Project c := u.b + t.a
          Values [] 1 rows
  Scan t [t.id, t.a, t.d, t.s, t.day]
=> (SELECT d.c FROM u, LATERAL (SELECT u.b + t.a AS c) d LIMIT 1) BIGINT

SELECT * FROM t LEFT JOIN (u JOIN LATERAL (SELECT u.b + t.a AS c) d) ON TRUE
----
Project t.id, t.a, t.d, t.s, t.day, u.id, u.b, c
  LeftJoin ON 1
    Scan t [t.id, t.a, t.d, t.s, t.day]
    CrossJoin
      Scan u [u.id, u.b]
      Project c := u.b + t.a
        Values [] 1 rows
=> id BIGINT, a INT, d DECIMAL(15,2), s VARCHAR(10), day DATE, id BIGINT, b INT, c BIGINT

SELECT * FROM LATERAL (SELECT 1) d
----
Project 1
  Project 1 := 1
    Values [] 1 rows
=> 1 BIGINT

SELECT * FROM t, (SELECT b FROM u WHERE u.id = t.id) d
----
error: Error 1054 (42S22) at line 1, column 48: Unknown column 't.id' in 'where clause' (hint: did you mean 'id'?)

SELECT * FROM LATERAL (SELECT t.id) d, t
----
error: Error 1054 (42S22) at line 1, column 31: Unknown column 't.id' in 'field list'

SELECT * FROM t RIGHT JOIN LATERAL (SELECT b FROM u WHERE u.id = t.id) d ON TRUE
----
error: Error 1054 (42S22) at line 1, column 66: Unknown column 't.id' in 'where clause' (hint: did you mean 'id'?)

SELECT * FROM t, LATERAL (SELECT SUM(t.a)) d
----
error: Error 1111 (HY000) at line 1, column 34: Invalid use of group function

SELECT * FROM t, LATERAL (SELECT b FROM u WHERE u.id = t.nope) d
----
error: Error 1054 (42S22) at line 1, column 56: Unknown column 't.nope' in 'where clause'
