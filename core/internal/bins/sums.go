package bins

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// enough is the number of effective events of a merged bin: the fewest with a variance, and more than rounding may take away.
const enough = FewestEffective * (1 + 1e-9)

// Settle merges bins that have too few events, unless the caller has chosen the bins. It sets bs.Means to the means of the
// function 1 and of the columns over the bins.
//
// It reports false if the effective events of these bins allow fewer bins only, or if another kind of bins is asked for. Then New makes
// other bins with the same options.
func Settle[T events.Float](bs *Bins, sel *events.Selection[T], o *Options, columns events.Columns, sc *par.Scratch) (bool, error) {
	if sel.Weight != nil {
		sel.Balance(bs.Count(), sc)
	}
	merging := o.Merges() && (sel.Weight != nil || bs.fewest < 2)
	if !merging && columns.Count == 0 {
		bs.Means = slices.Repeat([]float64{1}, bs.Count())
	} else {
		sums := sumBins(sel, bs.Count(), columns, sc)
		if merging {
			if sel.Weight != nil && !o.Few && o.limit(sums, sel.N) {
				return false, nil
			}
			if to := findMerged(sums, sel.Exponents, o.Order+1); to[len(to)-1] < len(to)-1 {
				mergeBins(bs, sel, to)
				sel.Balance(bs.Count(), sc)
				sums = sumBins(sel, bs.Count(), columns, sc)
			}
		}
		totals := make([]float64, bs.Count())
		for b, row := range sums {
			totals[b] = row[0]
		}
		if err := CheckSums(bs, totals, sel); err != nil {
			return false, err
		}
		bs.Means = par.Make[float64](&sc.Arena, bs.Count()*(columns.Count+1))[:0]
		for _, row := range sums {
			bs.Means = append(bs.Means, 1)
			for _, sum := range row[2 : 2+columns.Count] {
				bs.Means = append(bs.Means, sum/row[0])
			}
		}
	}
	if o.Merges() && bs.Count() <= o.Order+1 {
		return false, errs.Of(errs.ErrNoEvents, "too few events, or too few different masses: %d selected events make %d bins, "+
			"and a response of order = %d needs more than %d: use larger batches, a lower order, or give bins or edges",
			sel.N, bs.Count(), o.Order, o.Order+1)
	}
	return true, nil
}

// limit sets o.Most to the number of bins that the effective events of all bins allow, and reports whether the bins for n events must
// change. Bins are not merged until each has InEach effective events: the bins would follow the score where the weights follow it.
func (o *Options) limit(sums [][]float64, n int) bool {
	effective := 0.0
	for _, row := range sums {
		if w, t := row[0], row[1]; t > 0 {
			effective += w * w / t
		}
	}
	before := o.For(n)
	o.Most, o.Few = max(1, min(before, int(effective/InEach*(1+1e-9)))), true // which rounding does not change
	return o.For(n) < before || o.Kind != Quantile
}

// findMerged returns for each bin the number of the bin that it becomes a part of. Each merged bin has enough effective events.
// If that leaves no more bins than functions, a positive sum of weights is enough.
func findMerged(sums [][]float64, powers []int, functions int) []int {
	to := mergeUntil(sums, powers, enough)
	if to[len(to)-1] < functions {
		return mergeUntil(sums, powers, 0)
	}
	return to
}

// group is neighboring bins from the first on, with their sums W and T of weights that are multiplied by 2^power.
type group struct {
	first int
	w, t  float64
	power int
}

// add adds sums of weights with their own power. The sums of the larger weights, with the lower power, keep their digits.
func (g *group) add(w, t float64, power int) {
	low := min(g.power, power)
	g.w = math.Ldexp(g.w, low-g.power) + math.Ldexp(w, low-power)
	g.t = math.Ldexp(g.t, 2*(low-g.power)) + math.Ldexp(t, 2*(low-power))
	g.power = low
}

// begun returns a group without bins.
func begun(first int) group { return group{first: first, power: 1 << 12} }

// mergeUntil merges neighbors, from the lowest mass on, until each bin has a positive sum of weights and enough effective
// events, W^2/T. A rest at the end joins the last bins until they have enough. The weights of each bin are multiplied by a power of two;
// nil: by 1.
func mergeUntil(sums [][]float64, powers []int, enough float64) []int {
	isEnough := func(g group) bool { return g.w > 0 && g.w*g.w >= enough*g.t }
	var groups []group
	open := begun(0)
	for b, row := range sums {
		power := 0
		if powers != nil {
			power = powers[b]
		}
		open.add(row[0], row[1], power)
		if isEnough(open) {
			groups, open = append(groups, open), begun(b+1)
		}
	}
	for open.first < len(sums) && len(groups) > 0 && !isEnough(open) {
		last := groups[len(groups)-1]
		last.add(open.w, open.t, open.power)
		groups, open = groups[:len(groups)-1], last
	}
	if open.first < len(sums) {
		groups = append(groups, open)
	}
	to := make([]int, len(sums))
	for k, g := range groups {
		for b := g.first; b < len(to); b++ {
			to[b] = k
		}
	}
	return to
}

// mergeBins merges bins of the same number in to, which does not decrease.
func mergeBins[T events.Float](bs *Bins, sel *events.Selection[T], to []int) {
	merged := []float64{bs.Edges[0]}
	for b := range to {
		if b == len(to)-1 || to[b+1] > to[b] {
			merged = append(merged, bs.Edges[b+1])
		}
	}
	bs.Edges = merged
	for i, pair := range sel.Pairs {
		if pair != events.NoPair {
			sel.Pairs[i] = pair&^events.BinMask | uint32(to[pair&events.BinMask])
		}
	}
}

// sumBins returns sums over the events of each bin: W, the sum of weights, T, the sum of their squares, and the sums of the weights times
// each function. The weights are in a common unit. It adds up events in blocks whose size does not depend on the number of threads,
// and then the blocks in their order.
func sumBins[T events.Float](sel *events.Selection[T], bins int, columns events.Columns, sc *par.Scratch) [][]float64 {
	width := (2 + columns.Count + 3) &^ 3                              // four at a time; the terms after the last function are 0
	n, per, size := len(sel.Mass), (bins+1)*width, max(1<<14, 64*bins) // the last row is for events that take no part
	blocks := (n + size - 1) / size
	rows := par.Make[float64](&sc.Arena, blocks*per)
	sc.Run(blocks, func(k int) {
		room := par.Room()
		defer room.Give()
		terms := make([][]float64, width)
		for l := range terms {
			terms[l] = par.Make[float64](&room.Arena, par.Block)
		}
		for lo, end := size*k, min(n, size*(k+1)); lo < end; lo += par.Block {
			hi := min(lo+par.Block, end)
			for l := range terms {
				terms[l] = terms[l][:hi-lo]
			}
			columns.Fill(terms[2:2+columns.Count], lo)
			if sel.Weight != nil {
				weigh(terms, sel.Weight[lo:hi], sel.Unit())
			}
			first := 0
			if sel.Weight == nil {
				addCounted(rows[k*per:(k+1)*per], width, uint32(bins), sel.Pairs[lo:hi], terms[2], terms[3])
				first = 4
			}
			for l := first; l < width; l += 4 {
				addFour(rows[k*per+l:(k+1)*per], width, uint32(bins), sel.Pairs[lo:hi], terms[l:])
			}
		}
	})
	for k := 1; k < blocks; k++ {
		floats.Add(rows[:per], rows[k*per:(k+1)*per])
	}
	sums := make([][]float64, bins)
	for b := range sums {
		sums[b] = rows[b*width : (b+1)*width]
		if sel.Weight == nil {
			sums[b][1] = sums[b][0]
		}
	}
	return sums
}

// addFour adds the first four terms of events to the rows of their bins. The row after the last bin is for events that take no part.
func addFour(rows []float64, width int, bins uint32, pairs []uint32, terms [][]float64) {
	n := len(pairs)
	first, second, third, fourth := terms[0][:n], terms[1][:n], terms[2][:n], terms[3][:n]
	for i, pair := range pairs {
		row := (*[4]float64)(rows[int(min(pair&events.BinMask, bins))*width:])
		row[0] += first[i]
		row[1] += second[i]
		row[2] += third[i]
		row[3] += fourth[i]
	}
}

// addCounted adds events of weight 1, and their third and fourth terms, to the rows of their bins. The sums of the squares of weights are
// the sums of weights.
func addCounted(rows []float64, width int, bins uint32, pairs []uint32, third, fourth []float64) {
	third, fourth = third[:len(pairs)], fourth[:len(pairs)]
	for i, pair := range pairs {
		row := (*[4]float64)(rows[int(min(pair&events.BinMask, bins))*width:])
		row[0]++
		row[2] += third[i]
		row[3] += fourth[i]
	}
}

// weigh sets the terms of W and T to weights and their squares, and multiplies the other terms by the weights.
func weigh[T events.Float](terms [][]float64, weights []T, unit float64) {
	w, squares := terms[0][:len(weights)], terms[1][:len(weights)]
	for i, weight := range weights {
		w[i] = float64(weight) * unit
		squares[i] = w[i] * w[i]
	}
	for _, term := range terms[2:] {
		floats.Mul(term, w)
	}
}

// CheckSums returns an error for the first bin whose sum of weights is not positive or has an infinite inverse.
func CheckSums[T events.Float](bs *Bins, sums []float64, sel *events.Selection[T]) error {
	for b, sum := range sums {
		switch {
		case sum == 0:
			return bs.Error(b, "has sum of weights 0: it is empty, or its weights cancel; "+
				"use fewer or wider bins, quantile bins or larger batches")
		case !(sum > 0) || math.IsInf(sum, 1) || math.IsInf(1/sum, 1):
			return bs.Error(b, "has sum of weights %v, which must be positive and finite: "+
				"use fewer or wider bins, quantile bins or larger batches", sum/sel.UnitIn(b))
		}
	}
	return nil
}
