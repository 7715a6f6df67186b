// Package rules rewrites logical plans: it takes the tree that planner/bind made of a statement and gives the tree that
// planner/physical turns into pipelines. It removes every subquery from expressions, moves predicates to where they cost least,
// orders joins, and drops whatever no one needs.
//
// The rules stand in one ordered list, [List]. Each is a function over a whole query, has a file of its own that says
// why it is legal and which SQL would break if it were not, and can be switched off by name. A statement passes
// through [Optimize] once.
//
// The files of rules have their names or begin with them, but for these:
//
//   - rules.go, rewriter.go: the list, and the state of one statement. group.go: the inner joins that some rules see as one.
//   - apply.go: introduce_apply. decorrelate_pull.go, decorrelate_domain.go, decorrelate_recursive.go: how correlation goes, by pulling conditions out or by the distinct outer values.
//   - decorrelate_ranges.go, decorrelate_between.go, first_of_range.go, nearest_of_range.go, two_ranges.go: subqueries whose rows an inequality chooses (accumulate_ranges).
//   - nullability.go, fold.go, simplify.go with simplify_compare.go and simplify_ranges.go, outer_joins.go, infer.go, push.go, push_shared.go, marks.go, empty.go, share.go,
//     prune.go, limits.go: derive_nullability, fold_constants, simplify_predicates, simplify_outer_joins, infer_predicates, push_predicates, push_shared_predicates,
//     simplify_marks, remove_empty, share_subplans, prune_columns, push_limits.
//   - aggregates.go, split_distinct.go: aggregates that rules make, and rewrite_distinct for several arguments. fingerprint.go: trees that share_subplans finds equal.
package rules
