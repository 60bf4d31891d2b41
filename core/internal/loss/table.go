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

// Edges returns the edges of the bins of one variable of mass. Scores are not looked at.
func Edges[T events.Float](ev events.Events[T], p *Plan, sc *par.Scratch) ([]float64, error) {
	_, se, err := inspect(ev, p, sc)
	if err != nil {
		return nil, err
	}
	return slices.Clone(se.bins.Edges), nil
}

// Table holds, at each of the scores that were asked for, what the loss is made of. A row belongs to a score.
type Table struct {
	Edges   []float64   // of the bins, in units of mass
	CDF     [][]float64 // F_b: the fraction of bin b's weight with scores <= s
	Moments [][]float64 // c_l, l = 0..order
	Bounded [][]float64 // c~_l
}

// MomentsAt returns the table of the scores, in any order.
func MomentsAt[T events.Float](at []float64, ev events.Events[T], p *Plan, sc *par.Scratch) (*Table, error) {
	sel, se, err := inspect(ev, p, sc)
	if err != nil {
		return nil, err
	}
	bs := se.bins
	ba, err := se.basis(&p.Walk.Moments, sc)
	if err != nil {
		return nil, err
	}
	table := &Table{Edges: slices.Clone(bs.Edges)}
	if table.CDF, err = cdfsAt(at, sel, bs); err != nil {
		return nil, err
	}
	bo := moments.NewBound(&p.Walk.Moments, ba.Basis)
	for _, cdf := range table.CDF {
		c := make([]float64, ba.Size)
		ba.Moments(c, cdf)
		value := slices.Clone(c)
		if p.Walk.Moments.Bounded() {
			value = bo.Apply(c)
		}
		if !events.IsFinite(floats.Sum(cdf)) || !events.IsFinite(floats.Sum(c)) || !events.IsFinite(floats.Sum(value)) {
			return nil, errs.Of(errs.ErrOverflow, "moments are beyond double precision: weights relative to their sum in a bin are too large")
		}
		table.Moments = append(table.Moments, c)
		table.Bounded = append(table.Bounded, value)
	}
	return table, nil
}

// inspect selects the events of the one label and finds their bins. Only masses and weights are looked at where there are no
// scores.
func inspect[T events.Float](ev events.Events[T], p *Plan, sc *par.Scratch) (*events.Selection[T], settled, error) {
	var index []uint32
	if ev.Label != nil {
		di := par.Kept[events.Division[T]](sc)
		if err := di.Divide(ev, p.Labels, sc); err != nil {
			return nil, settled{}, err
		}
		ev, index = di.Events, di.Index
	}
	v := p.limited(0)
	choose := events.Select[T]
	if ev.Score == nil {
		ev.Score, choose = ev.Mass, events.SelectMasses[T]
	}
	sel, err := choose(ev, index, v.Limits, sc)
	if err != nil {
		return nil, settled{}, err
	}
	se, err := settle(sel, &v.Options, &p.walk(0).Moments, sc)
	return sel, se, err
}

// cdfsAt returns F_b at each of the scores.
func cdfsAt[T events.Float](at []float64, sel *events.Selection[T], bs *bins.Bins) ([][]float64, error) {
	order := make([]int, len(at))
	for k := range order {
		order[k] = k
	}
	sort.Slice(order, func(i, j int) bool { return at[order[i]] < at[order[j]] })
	nb := bs.Count()
	cdf := make([][]float64, len(at))
	for k := range cdf {
		cdf[k] = make([]float64, nb)
	}
	sums, unit, numbers := make([]float64, nb), sel.Unit(), make([]uint32, len(sel.Mass))
	bins.Find(numbers, bs, sel, 0)
	for i, b := range numbers {
		if b == bins.NoBin {
			continue
		}
		w := 1.0
		if sel.Weight != nil {
			w = float64(sel.Weight[i]) * unit
		}
		sums[b] += w
		s := float64(sel.Score[i])
		if k := sort.Search(len(order), func(k int) bool { return at[order[k]] >= s }); k < len(order) {
			cdf[order[k]][b] += w
		}
	}
	for b, sum := range sums {
		if err := bins.CheckSum(bs, b, sum, unit); err != nil {
			return nil, err
		}
	}
	for k, row := range order {
		for b := range nb {
			if k > 0 {
				cdf[row][b] += cdf[order[k-1]][b]
			}
		}
	}
	for _, row := range cdf {
		floats.Div(row, sums)
	}
	return cdf, nil
}
