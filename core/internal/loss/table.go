package loss

import (
	"slices"
	"sort"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// Table has the parts of the loss at given scores. Each score has a row.
type Table struct {
	Edges   []float64   // of the bins, in units of mass
	CDF     [][]float64 // F_b: the fraction of bin b's weight with scores <= s
	Moments [][]float64 // c_l, l = 0..order
	Bounded [][]float64 // c~_l
}

// Edges returns the edges of the bins of one variable of mass. Scores have no effect.
func Edges[T events.Float](ev events.Events[T], p *Plan, sc *par.Scratch) ([]float64, error) {
	_, bs, _, err := inspect(ev, p, sc)
	if err != nil {
		return nil, err
	}
	return slices.Clone(bs.Edges), nil
}

// MomentsAt returns the table of the scores, in any order.
func MomentsAt[T events.Float](at []float64, ev events.Events[T], p *Plan, sc *par.Scratch) (*Table, error) {
	sel, bs, newton, err := inspect(ev, p, sc)
	if err != nil {
		return nil, err
	}
	ba, err := moments.New(bs, newton, &p.Config, &sc.Arena)
	if err != nil {
		return nil, err
	}
	table := &Table{Edges: slices.Clone(bs.Edges)}
	if table.CDF, err = cdfsAt(at, sel, bs); err != nil {
		return nil, err
	}
	bound := moments.NewBound(&p.Config, ba)
	for _, cdf := range table.CDF {
		c := make([]float64, ba.Size)
		ba.Moments(c, cdf)
		bounded := slices.Clone(c)
		if p.Bounded() {
			bounded = bound.Apply(c)
		}
		if !events.IsFinite(floats.Sum(cdf) + floats.Sum(c) + floats.Sum(bounded)) {
			return nil, errs.Of(errs.ErrOverflow, "moments overflow double precision: weights relative to their sum in a bin are too large")
		}
		table.Moments, table.Bounded = append(table.Moments, c), append(table.Bounded, bounded)
	}
	return table, nil
}

// inspect selects the events of the one label and finds their bins. Without scores only masses and weights are checked.
func inspect[T events.Float](ev events.Events[T], p *Plan, sc *par.Scratch) (*events.Selection[T], *bins.Bins, *moments.Newton, error) {
	var index []uint32
	if ev.Label != nil {
		di, err := events.Divide(ev, p.BackgroundLabel, sc)
		if err != nil {
			return nil, nil, nil, err
		}
		ev, index = di.Events, di.Index
	}
	return settle(ev, index, p.Masses[0], &p.Config, sc)
}

// cdfsAt returns F_b at each of the scores.
func cdfsAt[T events.Float](at []float64, sel *events.Selection[T], bs *bins.Bins) ([][]float64, error) {
	nb, sorted := bs.Count(), slices.Sorted(slices.Values(at))
	below := make([][]float64, len(at)) // the sums of weights up to each of the sorted scores
	for k := range below {
		below[k] = make([]float64, nb)
	}
	sums, unit, numbers := make([]float64, nb), sel.Unit(), make([]uint32, len(sel.Mass))
	sel.FindBins(numbers, 0)
	for i, b := range numbers {
		if b == events.NoPair {
			continue
		}
		w := 1.0
		if sel.Weight != nil {
			w = float64(sel.Weight[i]) * unit
		}
		sums[b] += w
		if k := sort.SearchFloat64s(sorted, float64(sel.Score[i])); k < len(sorted) {
			below[k][b] += w
		}
	}
	for b, sum := range sums {
		if err := bins.CheckSum(bs, b, sum, unit); err != nil {
			return nil, err
		}
	}
	for k := 1; k < len(below); k++ {
		floats.Add(below[k], below[k-1])
	}
	cdf := make([][]float64, len(at))
	for i, s := range at {
		cdf[i] = floats.DivTo(make([]float64, nb), below[sort.SearchFloat64s(sorted, s)], sums)
	}
	return cdf, nil
}
