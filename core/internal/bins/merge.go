package bins

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
)

// merging returns, for each bin, the number of the bin that it becomes a part of
// where neighbours are merged, from the lowest mass on, until each has a positive
// sum of weights and enough effective events, W^2/T. What is left at the end joins the
// last of these bins, and that the one before it, until they have enough.
func (su *Sums) merging(enough float64) []int {
	type stretch struct {
		first int
		w, t  float64
	}
	sufficient := func(g stretch) bool { return g.w > 0 && g.w*g.w >= enough*g.t }
	nb := len(su.rows) / su.width()
	groups := make([]stretch, 0, nb)
	now := stretch{}
	for b := range nb {
		now.w += su.weight(b)
		now.t += su.squares(b)
		if sufficient(now) {
			groups = append(groups, now)
			now = stretch{first: b + 1}
		}
	}
	for now.first < nb && len(groups) > 0 && !sufficient(now) {
		last := groups[len(groups)-1]
		groups = groups[:len(groups)-1]
		now = stretch{last.first, last.w + now.w, last.t + now.t}
	}
	if now.first < nb {
		groups = append(groups, now)
	}
	to := make([]int, nb)
	for k, g := range groups {
		for b := g.first; b < nb; b++ {
			to[b] = k
		}
	}
	return to
}

// merge makes one bin of each run of bins that to maps to the same number, which do
// not decrease.
func (su *Sums) merge(to []int) {
	for b, target := range to {
		if target == b {
			continue
		}
		row := su.row(target)
		if b > 0 && to[b-1] == target {
			for i, more := range su.row(b) {
				row[i] += more
			}
		} else {
			copy(row, su.row(b))
		}
	}
	su.rows = su.rows[:(to[len(to)-1]+1)*su.width()]
}

// merge makes one bin of those that to maps to the same number.
func merge[T events.Float](bs *Bins, sel *events.Selection[T], to []int) {
	merged := append([]float64(nil), bs.Edges[0])
	for b := range to {
		if b == len(to)-1 || to[b+1] > to[b] {
			merged = append(merged, bs.Edges[b+1])
		}
	}
	bs.Edges = merged
	renumber(bs, sel, to)
}

// checkSettled returns an error where merging has left fewer bins than a response needs to be seen in.
func checkSettled[T events.Float](bs *Bins, sel *events.Selection[T], o *Options) error {
	if o.merges() && bs.Count() <= o.Functions {
		return errs.Of(errs.ErrNoEvents, "too few events, or too few that differ in mass: %d selected events make %d bins, "+
			"and a response of %s needs more than %d to be seen in: use larger batches, %s, or give bins or edges",
			sel.N, bs.Count(), o.Response, o.Functions, o.Simpler)
	}
	return nil
}

// Check returns an error for the first bin whose sum of weights is not positive.
func (su *Sums) Check(bs *Bins, unit float64) error {
	for b := range bs.Count() {
		if err := CheckSum(bs, b, su.weight(b), unit); err != nil {
			return err
		}
	}
	return nil
}

// CheckSum returns an error where no CDF can be made with a bin's sum of weights.
func CheckSum(bs *Bins, b int, sum, unit float64) error {
	if sum == 0 {
		return bs.Error(b, "has sum of weights 0: it is empty, or its weights cancel; "+
			"use fewer or wider bins, quantile bins or larger batches")
	}
	if !(sum > 0) || math.IsInf(sum, 1) || math.IsInf(1/sum, 1) {
		return bs.Error(b, "has sum of weights %v, which must be positive and finite: "+
			"use fewer or wider bins, quantile bins or larger batches", sum/unit)
	}
	return nil
}

// Means returns the bins' means of the functions, (1/W_b) sum w f(x), a row a bin.
func (su *Sums) Means(sc *par.Scratch) []float64 {
	first := 0
	if su.one {
		first = 1
	}
	size := su.count + first
	nb := len(su.rows) / su.width()
	means := par.Make[float64](&sc.Arena, nb*size)
	for b := range nb {
		row, to := su.row(b), means[b*size:(b+1)*size]
		if su.one {
			to[0] = 1
		}
		for l := range su.count {
			to[first+l] = row[2+l] / row[0]
		}
	}
	return means
}
