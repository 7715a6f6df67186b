package rules

import (
	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/joinorder"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/stats"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Options says how to optimize.
type Options struct {
	// Disabled names the rules to leave out (SET radish_disabled_rules). Rules marked Required run all the same.
	Disabled map[string]bool
	// Traces asks for the plan after each rule that changed it.
	Traces bool
	// Checks runs logical.Check after each rule that changed the plan: for tests.
	Checks bool
	// Context serves constant folding; with none nothing is folded.
	Context *expr.Context
	// Device is where the plan is expected to run. Joins are ordered by its default prices, which no calibration changes.
	Device physical.Device
	// eager applies rules wherever they are legal, whatever they cost: for tests over small tables.
	eager bool
}

var defaultCosts = cost.Default()

// Step is the plan after a rule that changed it.
type Step struct {
	Rule string
	Plan string
}

// Rule is one rewrite.
type Rule struct {
	Name string
	Doc  string
	// Required rules cannot be switched off: executors do not run what they remove.
	Required bool
	// needs lists shapes of which the plan must have at least one, or the rule is not tried.
	needs shape
	apply func(*rewriter) error
}

// List returns the rules in the order in which they run. A name may stand twice.
func List() []Rule { return list }

var list = []Rule{
	{Name: "derive_nullability", Doc: deriveNullabilityDoc, needs: hasOuterJoin, apply: deriveNullability},
	{Name: "fold_constants", Doc: foldConstantsDoc, needs: always, apply: foldConstants},
	{Name: "simplify_predicates", Doc: simplifyPredicatesDoc, needs: hasConditions, apply: simplifyPredicates},
	{Name: "stack_groupings", Doc: stackGroupingsDoc, needs: hasShared, apply: stackGroupings},
	{Name: "inline_shared", Doc: inlineSharedDoc, needs: hasShared, apply: inlineShared},
	{Name: "introduce_apply", Doc: introduceApplyDoc, Required: true, needs: hasSubquery | hasJoin, apply: introduceApply},
	{Name: "limit_applies", Doc: limitAppliesDoc, needs: hasApply, apply: limitApplies},
	{Name: "accumulate_ranges", Doc: accumulateRangesDoc, needs: hasApply, apply: accumulateRanges},
	{Name: "decorrelate", Doc: decorrelateDoc, Required: true, needs: hasApply, apply: decorrelate},
	{Name: "factor_or", Doc: factorOrDoc, needs: hasConditions, apply: factorOr},
	{Name: "simplify_outer_joins", Doc: simplifyOuterJoinsDoc, needs: hasOuterJoin, apply: simplifyOuterJoins},
	{Name: "infer_predicates", Doc: inferPredicatesDoc, needs: hasJoin, apply: inferPredicates},
	{Name: "push_predicates", Doc: pushPredicatesDoc, needs: hasConditions, apply: pushPredicates},
	{Name: "simplify_marks", Doc: simplifyMarksDoc, needs: hasMark, apply: simplifyMarks},
	{Name: "remove_empty", Doc: removeEmptyDoc, needs: hasEmpty | hasConditions, apply: removeEmpty},
	{Name: "share_subplans", Doc: shareSubplansDoc, needs: hasRepeatedScan, apply: shareSubplans},
	{Name: "push_shared_predicates", Doc: pushSharedPredicatesDoc, needs: hasShared, apply: pushSharedPredicates},
	// Below a union, conditions on a constant column of each input are decided now.
	{Name: "fold_constants", Doc: foldConstantsDoc, needs: hasShared, apply: foldConstants},
	{Name: "simplify_predicates", Doc: simplifyPredicatesDoc, needs: hasShared, apply: simplifyPredicates},
	{Name: "remove_empty", Doc: removeEmptyDoc, needs: hasEmpty | hasShared, apply: removeEmpty},
	{Name: "prune_columns", Doc: pruneColumnsDoc, needs: always, apply: pruneColumns},
	{Name: "join_partitions", Doc: joinPartitionsDoc, needs: hasWindow, apply: joinPartitions},
	{Name: "eliminate_joins", Doc: eliminateJoinsDoc, needs: hasOuterJoin, apply: eliminateJoins},
	{Name: "infer_key_ranges", Doc: inferKeyRangesDoc, needs: hasJoin, apply: inferKeyRanges},
	{Name: "reduce_products", Doc: reduceProductsDoc, needs: hasJoin, apply: reduceProducts},
	{Name: "reduce_ranges", Doc: reduceRangesDoc, needs: hasJoin, apply: reduceRanges},
	{Name: "reduce_groups", Doc: reduceGroupsDoc, needs: hasAggregate, apply: reduceGroups},
	{Name: "rewrite_distinct", Doc: rewriteDistinctDoc, needs: hasAggregate, apply: rewriteDistinct},
	{Name: "push_aggregates", Doc: pushAggregatesDoc, needs: hasAggregate, apply: pushAggregates},
	{Name: "order_joins", Doc: orderJoinsDoc, needs: hasJoin, apply: orderJoins},
	{Name: "split_or", Doc: splitOrDoc, needs: hasJoin, apply: splitOr},
	{Name: "aggregate_early", Doc: aggregateEarlyDoc, needs: hasAggregate, apply: aggregateEarly},
	{Name: "filter_aggregates", Doc: filterAggregatesDoc, needs: hasAggregate, apply: filterAggregates},
	{Name: "filter_builds", Doc: filterBuildsDoc, needs: hasJoin, apply: filterBuilds},
	{Name: "push_limits", Doc: pushLimitsDoc, needs: hasLimit | hasSort, apply: pushLimits},
	{Name: "prune_columns", Doc: pruneColumnsDoc, needs: hasJoin | hasAggregate | hasSetOp | hasShared, apply: pruneColumns},
	{Name: "derive_nullability", Doc: deriveNullabilityDoc, needs: hasJoin, apply: deriveNullability},
}

// MaxNodes bounds the operators of a plan, which grow where correlated subqueries are rewritten.
const MaxNodes = 200_000

// Optimize rewrites q. The trace is empty unless opts asks for it. An error is a form that Radish does not support, or
// a bug that opts.Check found.
func Optimize(q *logical.Query, opts Options) (*logical.Query, []Step, error) {
	if err := logical.CheckCollations(q.Root, opts.Context); err != nil {
		return nil, nil, err
	}
	w := &rewriter{
		root: q.Root, alloc: q.Alloc, fold: opts.Context, device: opts.Device, joins: joinorder.NewModel(opts.Device, &defaultCosts), eager: opts.eager,
		output: q.Cols, est: stats.NewEstimator(), pairsOnly: opts.Disabled["accumulate_ranges"],
		keepsBuilds: opts.Disabled["filter_builds"],
	}
	w.look()
	if w.shape&hasShared != 0 {
		w.ownShared()
	}
	var trace []Step
	for i := range list {
		r := &list[i]
		if w.shape&r.needs == 0 || opts.Disabled[r.Name] && !r.Required {
			continue
		}
		w.changed = false
		if err := opts.Context.Interrupted(); err != nil {
			return nil, trace, err
		}
		if err := r.apply(w); err != nil {
			return nil, trace, err
		}
		if w.err != nil {
			return nil, trace, w.err
		}
		if !w.changed {
			continue
		}
		if w.look(); w.nodes > MaxNodes {
			return nil, trace, sqlerr.New(sqlerr.CodeCapacityExceeded, sqlerr.Resource, "the statement's plan has more than %d operators after rule %s", MaxNodes, r.Name).
				WithHint("store the results of views and subqueries in tables first (CREATE TABLE ... AS SELECT)")
		}
		if opts.Traces {
			trace = append(trace, Step{r.Name, logical.Format(w.root)})
		}
		if opts.Checks {
			if err := w.check(r.Name); err != nil {
				return nil, trace, err
			}
		}
	}
	return &logical.Query{Root: w.root, Cols: w.outputColumns(), Names: q.Names, Alloc: q.Alloc}, trace, nil
}
