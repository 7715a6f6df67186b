SELECT a, s, SUM(d), GROUPING(s) FROM t GROUP BY a, s WITH ROLLUP
----
Sort sort key#45, t.a#9, sort key#46, t.s#10
  Project t.a#9, t.s#10, sum(t.d)#6, grouping#7, sort key#45 := level#8 <= 0, sort key#46 := level#8 <= 1
    UnionAll [t.a#9, t.s#10, sum(t.d)#6, grouping#7, level#8] of [t.a#18, t.s#20, sum(t.d)#22, grouping#23, level#24], [t.a#29, t.s#30, sum(t.d)#32, grouping#33, level#34], [t.a#38, t.s#39, sum(t.d)#41, grouping#42, level#43]
      Project t.a#18 := t.a#17, t.s#20 := t.s#19, sum(t.d)#22 := sum(t.d)#21, grouping#23 := 0, level#24 := 2
        Aggregate BY t.a#17 := t.a#14, t.s#19 := t.s#15: sum(t.d)#21 := sum(t.d#16)
          Shared rollup (1) [t.a#14, t.s#15, t.d#16] of [t.a#11, t.s#12, t.d#13]
      Project t.a#29 := t.a#28, t.s#30 := NULL, sum(t.d)#32 := sum(t.d)#31, grouping#33 := 1, level#34 := 1
        Aggregate BY t.a#28 := t.a#25: sum(t.d)#31 := sum(t.d#27)
          Shared rollup (1) [t.a#25, t.s#26, t.d#27] of [t.a#11, t.s#12, t.d#13]
      Project t.a#38 := NULL, t.s#39 := NULL, sum(t.d)#41 := sum(t.d)#40, grouping#42 := 1, level#43 := 0
        Filter rows > 0
          Aggregate: sum(t.d)#40 := sum(t.d#37), rows := count(*)
            Shared rollup (1) [t.a#35, t.s#36, t.d#37] of [t.a#11, t.s#12, t.d#13]
Shared rollup (1):
  Project t.a#11 := t.a#2, t.s#12 := t.s#4, t.d#13 := t.d#3
    Scan t [t.id, t.a#2, t.d#3, t.s#4, t.day]
=> a INT, s VARCHAR(10), SUM(d) DECIMAL(37,2), GROUPING(s) BIGINT

SELECT a, COUNT(*) FROM t GROUP BY a WITH ROLLUP ORDER BY GROUPING(a), a
----
Sort grouping#9, t.a#8
  Project t.a#8, count(*)#6, grouping#9
    UnionAll [t.a#8, count(*)#6, grouping#9, level#7] of [t.a#13, count(*)#15, grouping#16, level#17], [t.a#19, count(*)#21, grouping#22, level#23]
      Project t.a#13 := t.a#12, count(*)#15 := count(*)#14, grouping#16 := 0, level#17 := 1
        Aggregate BY t.a#12 := t.a#11: count(*)#14 := count(*)
          Shared rollup (1) [t.a#11] of [t.a#10]
      Project t.a#19 := NULL, count(*)#21 := count(*)#20, grouping#22 := 1, level#23 := 0
        Filter rows > 0
          Aggregate: count(*)#20 := count(*), rows := count(*)
            Shared rollup (1) [t.a#18] of [t.a#10]
Shared rollup (1):
  Project t.a#10 := t.a#2
    Scan t [t.id, t.a#2, t.d, t.s, t.day]
=> a INT, COUNT(*) BIGINT

SELECT GROUPING(a) FROM t GROUP BY a
----
error: Error 1111 (HY000) at line 1, column 8: Invalid use of group function (hint: GROUPING needs GROUP BY ... WITH ROLLUP)

SELECT GROUPING(a, d) FROM t GROUP BY a WITH ROLLUP
----
error: Error 3148 (HY000) at line 1, column 8: Argument #1 of GROUPING function is not in GROUP BY

SELECT a FROM t WHERE GROUPING(a) = 0 GROUP BY a WITH ROLLUP
----
error: Error 1111 (HY000) at line 1, column 23: Invalid use of group function

SELECT s FROM t GROUP BY a WITH ROLLUP
----
error: Error 1055 (42000): Expression #1 of SELECT list is not in GROUP BY clause and contains nonaggregated column 'db.t.s' which is not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by
