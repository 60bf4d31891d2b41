package loss

import (
	"cmp"
	"slices"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/moments"
	"gonum.org/v1/gonum/floats"
)

// Table has the parts of the loss at given scores. Each score has a row.
type Table struct {
	Edges   []float64   // of the bins, in units of mass
	CDF     [][]float64 // F_b: the fraction of bin b's weight with scores <= s
	Moments [][]float64 // c_l, l = 0..order
	Bounded [][]float64 // c~_l
}

// MomentsAt returns the table of the scores, in any order.
func (pr *Prepared[T]) MomentsAt(at []float64) (*Table, error) {
	nb, totals := pr.Count(), pr.rs.Totals()
	if err := bins.CheckSums(pr.Bins, totals, pr.sel); err != nil {
		return nil, err
	}
	rows := make([]int, len(at)) // in order of the scores
	for i := range rows {
		rows[i] = i
	}
	slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	table := &Table{slices.Clone(pr.Bins.Edges), make([][]float64, len(at)), make([][]float64, len(at)), make([][]float64, len(at))}
	below, next := make([]float64, nb), 0
	for _, row := range rows {
		for ; next < len(pr.rs.Words) && pr.rs.Score(next) <= at[row]; next++ {
			below[pr.rs.Bin(pr.rs.Words[next])] += pr.rs.Weight(next)
		}
		cdf, c := floats.DivTo(make([]float64, nb), below, totals), make([]float64, pr.Basis.Size)
		pr.Basis.Moments(c, cdf)
		bounded := slices.Clone(c)
		if pr.plan.Bounded() {
			bounded = moments.NewBound(&pr.plan.Options, pr.Basis).Apply(c)
		}
		if !events.IsFinite(floats.Sum(cdf) + floats.Sum(c) + floats.Sum(bounded)) {
			return nil, errs.Of(errs.ErrOverflow, "moments overflow double precision: weights relative to their sum in a bin are too large")
		}
		table.CDF[row], table.Moments[row], table.Bounded[row] = cdf, c, bounded
	}
	return table, nil
}
