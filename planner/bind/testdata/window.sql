SELECT row_number() OVER () FROM t
----
Project row_number()
  Window: row_number() := row_number()
    Scan t [t.id, t.a, t.d, t.s, t.day]
=> row_number() OVER () BIGINT UNSIGNED

SELECT a, rank() OVER (PARTITION BY s ORDER BY d DESC, id) r, sum(d) OVER (PARTITION BY s ORDER BY d DESC, id) FROM t WHERE a > 0 ORDER BY r
----
Sort rank()
  Project t.a, rank(), sum(t.d)
    Window PARTITION BY t.s ORDER BY t.d DESC, t.id: rank() := rank(), sum(t.d) := sum(t.d)
      Filter t.a > 0
        Scan t [t.id, t.a, t.d, t.s, t.day]
=> a INT, r BIGINT UNSIGNED, sum(d) OVER (PARTITION BY s ORDER BY d DESC, id) DECIMAL(37,2)

SELECT rank() OVER (ORDER BY a), rank() OVER (ORDER BY a) + 1, dense_rank() OVER (ORDER BY a), ntile(3) OVER (PARTITION BY a) FROM t
----
Project rank(), rank() OVER (ORDER BY a) + 1 := rank() + 1, dense_rank(), ntile(3)
  Window PARTITION BY t.a: ntile(3) := ntile(3)
    Window ORDER BY t.a: rank() := rank(), dense_rank() := dense_rank()
      Scan t [t.id, t.a, t.d, t.s, t.day]
=> rank() OVER (ORDER BY a) BIGINT UNSIGNED, rank() OVER (ORDER BY a) + 1 BIGINT UNSIGNED, dense_rank() OVER (ORDER BY a) BIGINT UNSIGNED, ntile(3) OVER (PARTITION BY a) BIGINT UNSIGNED

SELECT lag(a) OVER w, lead(a, 2) OVER w, lag(a, 1, 0.5) OVER w, first_value(s) OVER w, nth_value(day, 2) OVER w, cume_dist() OVER w FROM t WINDOW w AS (ORDER BY id)
----
Project lag(t.a), lead(t.a, 2), lag(CAST(t.a AS DECIMAL(11,1)), 1, CAST(0.5 AS DECIMAL(11,1))), first_value(t.s), nth_value(t.day, 2), cume_dist()
  Window ORDER BY t.id: lag(t.a) := lag(t.a), lead(t.a, 2) := lead(t.a, 2), lag(CAST(t.a AS DECIMAL(11,1)), 1, CAST(0.5 AS DECIMAL(11,1))) := lag(CAST(t.a AS DECIMAL(11,1)), 1, CAST(0.5 AS DECIMAL(11,1))), first_value(t.s) := first_value(t.s), nth_value(t.day, 2) := nth_value(t.day, 2), cume_dist() := cume_dist()
    Scan t [t.id, t.a, t.d, t.s, t.day]
=> lag(a) OVER w INT, lead(a, 2) OVER w INT, lag(a, 1, 0.5) OVER w DECIMAL(11,1), first_value(s) OVER w VARCHAR(10), nth_value(day, 2) OVER w DATE, cume_dist() OVER w DOUBLE

SELECT count(*) OVER (), count(a) OVER (PARTITION BY s), avg(a) OVER (w ROWS 2 PRECEDING), min(s) OVER (w GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t WINDOW w AS (v ORDER BY id), v AS (PARTITION BY a)
----
Project count(*) over the partition, count(t.a) over the partition, avg(t.a) rows between 2 preceding and current row, min(t.s) groups between 1 preceding and 1 following
  Window PARTITION BY t.a ORDER BY t.id: avg(t.a) rows between 2 preceding and current row := avg(t.a) rows between 2 preceding and current row, min(t.s) groups between 1 preceding and 1 following := min(t.s) groups between 1 preceding and 1 following
    Window PARTITION BY t.s: count(t.a) over the partition := count(t.a) over the partition
      Window: count(*) over the partition := count(*) over the partition
        Scan t [t.id, t.a, t.d, t.s, t.day]
=> count(*) OVER () BIGINT, count(a) OVER (PARTITION BY s) BIGINT, avg(a) OVER (w ROWS 2 PRECEDING) DECIMAL(14,4), min(s) OVER (w GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING) VARCHAR(10)

SELECT sum(a) OVER (ORDER BY a RANGE BETWEEN 2 PRECEDING AND 1.5 FOLLOWING), sum(a) OVER (ORDER BY a DESC RANGE 2 PRECEDING) FROM t
----
Project sum(t.a) range between 2 preceding and 1.5 following, sum(t.a) range between 2 preceding and current row
  Window ORDER BY t.a DESC: sum(t.a) range between 2 preceding and current row := sum(t.a) range between 2 preceding and current row
    Window ORDER BY t.a: sum(t.a) range between 2 preceding and 1.5 following := sum(t.a) range between 2 preceding and 1.5 following
      Scan t [t.id, t.a, t.d, t.s, t.day]
=> sum(a) OVER (ORDER BY a RANGE BETWEEN 2 PRECEDING AND 1.5 FOLLOWING) DECIMAL(32,0), sum(a) OVER (ORDER BY a DESC RANGE 2 PRECEDING) DECIMAL(32,0)

SELECT count(*) OVER (ORDER BY day RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND INTERVAL '1:30' HOUR_MINUTE FOLLOWING) FROM t
----
Project count(*) range between interval 1 day preceding and interval '1:30' hour_minute following
  Window ORDER BY t.day: count(*) range between interval 1 day preceding and interval '1:30' hour_minute following := count(*) range between interval 1 day preceding and interval '1:30' hour_minute following
    Scan t [t.id, t.a, t.d, t.s, t.day]
=> count(*) OVER (ORDER BY day RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND INTERVAL '1:30' HOUR_MINUTE FOLLOWING) BIGINT

SELECT a, sum(d), sum(sum(d)) OVER (ORDER BY a), rank() OVER (ORDER BY count(*)) FROM t GROUP BY a HAVING count(*) > 1 ORDER BY rank() OVER (ORDER BY a DESC)
----
Sort rank()#10
  Project t.a, sum(t.d), sum(sum(t.d)), rank()#9, rank()#10
    Window ORDER BY t.a DESC: rank()#10 := rank()
      Window ORDER BY count(*): rank()#9 := rank()
        Window ORDER BY t.a: sum(sum(t.d)) := sum(sum(t.d))
          Filter count(*) > 1
            Aggregate BY t.a: sum(t.d) := sum(t.d), count(*) := count(*)
              Scan t [t.id, t.a, t.d, t.s, t.day]
=> a INT, sum(d) DECIMAL(37,2), sum(sum(d)) OVER (ORDER BY a) DECIMAL(38,2), rank() OVER (ORDER BY count(*)) BIGINT UNSIGNED

SELECT DISTINCT a, max(a) OVER () FROM t ORDER BY a LIMIT 3
----
Limit 3
  Sort t.a
    Distinct BY t.a, max(t.a) over the partition
      Project t.a, max(t.a) over the partition
        Window: max(t.a) over the partition := max(t.a) over the partition
          Scan t [t.id, t.a, t.d, t.s, t.day]
=> a INT, max(a) OVER () INT

SELECT max(a), row_number() OVER () FROM t
----
Project max(t.a), row_number()
  Window: row_number() := row_number()
    Aggregate: max(t.a) := max(t.a)
      Scan t [t.id, t.a, t.d, t.s, t.day]
=> max(a) INT, row_number() OVER () BIGINT UNSIGNED

SELECT (SELECT count(*) OVER () FROM u WHERE u.id = t.id LIMIT 1) FROM t
----
Project (SELECT count(*) OVER () FROM u WHERE u.id = t.id LIMIT 1) := (Limit 1)
  subquery: Limit 1
    Project count(*) over the partition
      Window: count(*) over the partition := count(*) over the partition
        Filter u.id = t.id
          Scan u [u.id, u.b]
  Scan t [t.id, t.a, t.d, t.s, t.day]
=> (SELECT count(*) OVER () FROM u WHERE u.id = t.id LIMIT 1) BIGINT

SELECT sum((SELECT max(b) FROM u WHERE u.id = t.id)) OVER (ORDER BY id) FROM t
----
Project sum((Project max(u.b)))
  Window ORDER BY t.id: sum((Project max(u.b))) := sum((Project max(u.b)))
    subquery: Project max(u.b)
      Aggregate: max(u.b) := max(u.b)
        Filter u.id = t.id
          Scan u [u.id, u.b]
    Scan t [t.id, t.a, t.d, t.s, t.day]
=> sum((SELECT max(b) FROM u WHERE u.id = t.id)) OVER (ORDER BY id) DECIMAL(32,0)

SELECT a FROM t WHERE row_number() OVER () = 1
----
error: Error 3593 (HY000) at line 1, column 23: You cannot use the window function 'row_number' in this context. (hint: window functions stand in the select list and in ORDER BY; to filter by one, put it into a derived table)

SELECT row_number() OVER () r FROM t HAVING r > 1
----
error: Error 3594 (HY000) at line 1, column 45: You cannot use the alias 'r' of an expression containing a window function in this context.' (hint: put the expression into a derived table and use it there)

SELECT row_number() OVER () r FROM t GROUP BY r
----
error: Error 3594 (HY000) at line 1, column 47: You cannot use the alias 'r' of an expression containing a window function in this context.' (hint: put the expression into a derived table and use it there)

SELECT a FROM t GROUP BY rank() OVER ()
----
error: Error 3593 (HY000) at line 1, column 26: You cannot use the window function 'rank' in this context. (hint: window functions stand in the select list and in ORDER BY; to filter by one, put it into a derived table)

SELECT sum(rank() OVER ()) FROM t
----
error: Error 3593 (HY000) at line 1, column 12: You cannot use the window function 'rank' in this context. (hint: window functions stand in the select list and in ORDER BY; to filter by one, put it into a derived table)

SELECT rank() OVER (ORDER BY rank() OVER ()) FROM t
----
error: Error 3593 (HY000) at line 1, column 30: You cannot use the window function 'rank' in this context. (hint: window functions stand in the select list and in ORDER BY; to filter by one, put it into a derived table)

SELECT a, rank() OVER (ORDER BY d) FROM t GROUP BY a
----
error: Error 1055 (42000): Expression #1 of SELECT list is not in GROUP BY clause and contains nonaggregated column 'db.t.d' which is not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by

SELECT rank() OVER w FROM t WINDOW v AS ()
----
error: Error 3579 (HY000) at line 1, column 8: Window name 'w' is not defined.

SELECT rank() OVER w FROM t WINDOW w AS (), W AS ()
----
error: Error 3591 (HY000): Window 'W' is defined twice.

SELECT rank() OVER w FROM t WINDOW w AS (v), v AS (w)
----
error: Error 3580 (HY000) at line 1, column 8: There is a circularity in the window dependency graph.

SELECT rank() OVER (w PARTITION BY a) FROM t WINDOW w AS ()
----
error: Error 3581 (HY000) at line 1, column 8: A window which depends on another cannot define partitioning.

SELECT rank() OVER (w ORDER BY a) FROM t WINDOW w AS (ORDER BY id)
----
error: Error 3583 (HY000) at line 1, column 8: Window '<unnamed window>' cannot inherit 'w' since both contain an ORDER BY clause.

SELECT sum(a) OVER (w ORDER BY a) FROM t WINDOW w AS (ROWS 1 PRECEDING)
----
error: Error 3582 (HY000) at line 1, column 8: Window 'w' has a frame definition, so cannot be referenced by another window.

SELECT rank() OVER (ORDER BY 1) FROM t
----
error: Error 3592 (HY000) at line 1, column 8: Window '<unnamed window>': ORDER BY or PARTITION BY uses legacy position indication which is not supported, use expression.

SELECT rank() OVER (ORDER BY nope) FROM t
----
error: Error 1054 (42S22) at line 1, column 30: Unknown column 'nope' in 'window order by'

SELECT a AS x, rank() OVER (PARTITION BY x) FROM t
----
error: Error 1054 (42S22) at line 1, column 42: Unknown column 'x' in 'window partition by'

SELECT sum(a) OVER (ROWS BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW) FROM t
----
error: Error 3584 (HY000) at line 1, column 8: Window '<unnamed window>': frame start cannot be UNBOUNDED FOLLOWING.

SELECT sum(a) OVER (ROWS BETWEEN CURRENT ROW AND UNBOUNDED PRECEDING) FROM t
----
error: Error 3585 (HY000) at line 1, column 8: Window '<unnamed window>': frame end cannot be UNBOUNDED PRECEDING.

SELECT sum(a) OVER (ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) FROM t
----
error: Error 3586 (HY000) at line 1, column 8: Window '<unnamed window>': frame start or end is negative, NULL or of non-integral type

SELECT sum(a) OVER (ROWS 1.5 PRECEDING) FROM t
----
error: Error 3586 (HY000) at line 1, column 8: Window '<unnamed window>': frame start or end is negative, NULL or of non-integral type

SELECT sum(a) OVER (ORDER BY day ROWS INTERVAL 1 DAY PRECEDING) FROM t
----
error: Error 3596 (HY000) at line 1, column 8: Window '<unnamed window>': INTERVAL can only be used with RANGE frames.

SELECT sum(a) OVER (ORDER BY day RANGE 1 PRECEDING) FROM t
----
error: Error 3588 (HY000) at line 1, column 8: Window '<unnamed window>' with RANGE frame has ORDER BY expression of datetime type. Only INTERVAL bound value allowed.

SELECT sum(a) OVER (ORDER BY a RANGE INTERVAL 1 DAY PRECEDING) FROM t
----
error: Error 3589 (HY000) at line 1, column 8: Window '<unnamed window>' with RANGE frame has ORDER BY expression of numeric type, INTERVAL bound value not allowed.

SELECT sum(a) OVER (ORDER BY day RANGE INTERVAL -1 DAY PRECEDING) FROM t
----
error: Error 3586 (HY000) at line 1, column 8: Window '<unnamed window>': frame start or end is negative, NULL or of non-integral type

SELECT sum(a) OVER (ORDER BY day RANGE INTERVAL a DAY PRECEDING) FROM t
----
error: Error 3590 (HY000) at line 1, column 8: Window '<unnamed window>' has a non-constant frame bound.

SELECT sum(a) OVER (ORDER BY a, id RANGE 1 PRECEDING) FROM t
----
error: Error 3587 (HY000) at line 1, column 8: Window '<unnamed window>' with RANGE N PRECEDING/FOLLOWING frame requires exactly one ORDER BY expression, of numeric or temporal type

SELECT sum(a) OVER (ORDER BY s RANGE 1 PRECEDING) FROM t
----
error: Error 3587 (HY000) at line 1, column 8: Window '<unnamed window>' with RANGE N PRECEDING/FOLLOWING frame requires exactly one ORDER BY expression, of numeric or temporal type

SELECT ntile(0) OVER () FROM t
----
error: Error 1210 (HY000) at line 1, column 8: Incorrect arguments to ntile (hint: operand 1 has to be a constant of at least 1)

SELECT nth_value(a, 0) OVER () FROM t
----
error: Error 1210 (HY000) at line 1, column 8: Incorrect arguments to nth_value (hint: operand 2 has to be a constant of at least 1)

SELECT sum(DISTINCT a) OVER () FROM t
----
error: Error 1235 (42000) at line 1, column 8: DISTINCT before OVER is not supported: aggregate the distinct rows of a derived table instead

SELECT lag(a) IGNORE NULLS OVER (ORDER BY a) FROM t
----
error: Error 1235 (42000) at line 1, column 8: IGNORE NULLS is not supported: NULLs count as values, as in MySQL

SELECT nth_value(a, 2) FROM LAST OVER (ORDER BY a) FROM t
----
error: Error 1235 (42000) at line 1, column 8: FROM LAST is not supported: turn the window's order round instead

SELECT group_concat(s) OVER () FROM t
----
error: Error 1235 (42000) at line 1, column 8: GROUP_CONCAT as a window function is not supported: aggregate in a derived table and join it; of the aggregates COUNT, SUM, AVG, MIN, MAX, the variances and BIT_AND, BIT_OR, BIT_XOR can stand before OVER

SELECT sum(a) OVER (ORDER BY a ROWS ? PRECEDING) FROM t
----
error: Error 1210 (HY000) at line 1, column 8: Incorrect arguments to EXECUTE (hint: the statement has a marker ? number 1, but 0 values were given)
