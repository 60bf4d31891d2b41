package core

import (
	"math"
	"sync"

	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
)

// disco is the memory of one call, kept between calls. What has an element for
// each event is in order of mass where nothing else is said.
type disco struct {
	mass, score axis // each in its own order
	records     []uint64
	index       []uint32 // places in the input
	rank        []uint32 // in order of score: ranks in mass
	events      []massEvent
	byScore     []massEvent // the same in order of score
	values      []float64   // scores, then factors in either order
	pair, pair2 []float64   // in order of score, see covariance
	slope       []float64   // in order of score: derivatives of dCov^2(m, s)
	half        []float64   // in order of an axis: half of those of its dCov^2
}

// axis is one of the two variables in increasing order, centred and scaled.
type axis struct {
	z   []float64
	w   []float64 // weights
	row []float64 // sum_j w_j |z_k - z_j|
}

var discoPool = sync.Pool{New: func() any { return new(disco) }}

// discoOfLabel returns the loss DisCo of G. Kasieczka and D. Shih, "DisCo Fever:
// Robust Networks Through Distance Correlation", arXiv:2001.05310, the squared
// distance correlation of mass and score (G. Szekely, M. Rizzo, N. Bakirov,
// arXiv:0803.4101):
//
//	dCorr^2(m, s) = dCov^2(m, s) / sqrt(dCov^2(m, m) dCov^2(s, s))
//	dCov^2(m, s)  = <a_ij b_ij> - 2 <a_ij b_ik> + <a_ij b_kl>,   a_ij = |m_i - m_j|, b_ij = |s_i - s_j|
//
// where <> is the mean over all i, j, k, l, weighted with the product of their
// weights. That is what the authors' code computes for power 1. With Unbiased,
// <> is the mean over i, j, k, l that all differ: a weighted U-statistic, which
// for equal weights is the one of G. Szekely and M. Rizzo, arXiv:1310.2926 (with
// U-centred distances). Its dCov^2 has the mean of an infinite sample; for
// independent events the result is negative about as often as not.
//
// Where two scores are equal, the derivative of |s_i - s_j| counts as 0, the mean
// of both sides. It takes O(n log n) time and O(n) memory, by sums over what lies
// below in both mass and score: X. Huo and G. Szekely, arXiv:1410.1503; A. Chaudhuri
// and W. Hu, arXiv:1810.11332. Where scores or masses are all equal, dCorr^2 is 0/0:
// an error, since 0 would tell a training whose scores have collapsed that all is well.
func discoOfLabel[T Float](out derivatives[T], ev Events[T], index []uint32, cfg *Config, sc *scratch) (Result, error) {
	anywhere := *cfg
	anywhere.ScoreRange = unbounded()
	sel, err := selectEvents(ev, index, &anywhere, false, sc)
	if err != nil {
		return Result{}, err
	}
	least := 2
	if cfg.Unbiased {
		least = 4
	}
	if sel.n < least {
		return Result{}, errorOf(ErrNoEvents, "too few events: %d selected events, and DisCo with unbiased = %v needs at least %d: use larger batches",
			sel.n, cfg.Unbiased, least)
	}
	dc := discoPool.Get().(*disco)
	defer discoPool.Put(dc)
	unit, err := arrange(dc, sel)
	if err != nil {
		return Result{}, err
	}
	fm, err := newForm(dc.mass.w, sel.unit(), sel.Weight == nil, cfg.Unbiased)
	if err != nil {
		return Result{}, err
	}
	massVariance, err := dc.variance(&fm, &dc.mass, "mass")
	if err != nil {
		return Result{}, err
	}
	variance, err := dc.variance(&fm, &dc.score, "score") // its gradient stays in dc.half
	if err != nil {
		return Result{}, err
	}
	covariance := dc.covariance(&fm, sc.team)
	norm := 1 / (math.Sqrt(massVariance) * math.Sqrt(variance))
	if grad := out.grad(); grad != nil {
		for k := range dc.byScore {
			i := dc.byScore[k].index
			grad[i] = T((dc.slope[k] - covariance/variance*dc.half[k]) * norm * unit)
		}
	}
	return Result{Loss: covariance * norm}, nil
}

// arrange sets the events in both orders and returns what the scores have been
// multiplied with.
func arrange[T Float](dc *disco, sel *selection[T]) (unit float64, err error) {
	n := sel.n
	dc.records, dc.index, dc.rank, dc.values = par.Grown(dc.records, n), par.Grown(dc.index, n), par.Grown(dc.rank, n), par.Grown(dc.values, n)
	for _, ax := range []*axis{&dc.mass, &dc.score} {
		ax.z, ax.w, ax.row = par.Grown(ax.z, n), par.Grown(ax.w, n), par.Grown(ax.row, n)
	}

	la := radix.NewLayout[T](sel.massMin, sel.massMax, math.MaxUint64, len(sel.Mass), 1)
	next := 0
	for i, m := range sel.Mass {
		if sel.takesPart(i) {
			dc.records[next] = radix.Pack(&la, m, i)
			next++
		}
	}
	radix.Sort(dc.records, []uint32{0, uint32(n)}, &la, sel.Mass)
	weightUnit := sel.unit()
	for r, record := range dc.records {
		i := la.Index(record)
		dc.index[r] = uint32(i)
		dc.values[r] = float64(sel.Score[i])
		dc.mass.z[r], dc.mass.w[r] = valueOf(&la, record, sel.Mass), 1
		if sel.Weight != nil {
			dc.mass.w[r] = float64(sel.Weight[i]) * weightUnit
		}
	}

	la = radix.NewLayout[T](sel.scoreMin, sel.scoreMax, sel.scoreBits, n, 1)
	for r, s := range dc.values {
		dc.records[r] = radix.Pack(&la, T(s), r)
	}
	radix.Sort(dc.records, []uint32{0, uint32(n)}, &la, dc.values)
	for k, record := range dc.records {
		r := la.Index(record)
		dc.rank[k] = uint32(r)
		dc.score.z[k], dc.score.w[k] = valueOf(&la, record, dc.values), 1
		if sel.Weight != nil {
			dc.score.w[k] = dc.mass.w[r]
		}
	}
	if _, err = dc.mass.centre("mass"); err != nil {
		return 0, err
	}
	return dc.score.centre("score")
}

// valueOf returns what a record was sorted by, if it can without a look at the values.
func valueOf[T Float](la *radix.Layout, record uint64, values []T) float64 {
	if la.Exact() {
		return la.Number(record)
	}
	return float64(values[la.Index(record)])
}

// centre subtracts the median, so that values far from 0 cost no digits, and
// multiplies with a power of two that it returns, so that no product overflows.
func (ax *axis) centre(name string) (unit float64, err error) {
	z := ax.z
	lo, hi, median := z[0], z[len(z)-1], z[len(z)/2]
	if lo == hi {
		return 0, errorOf(ErrUndefined, "%s: all %d selected events have the same %s %v, so that DisCo is 0/0, which is not defined", name, len(z), name, lo)
	}
	if !finite(hi - lo) {
		return 0, errorOf(ErrOverflow, "%s: the selected events span [%v, %v], which is too wide for double precision", name, lo, hi)
	}
	unit = unitOf(max(median-lo, hi-median))
	for k := range z {
		z[k] = (z[k] - median) * unit
	}
	return unit, nil
}

// variance returns dCov^2 of an axis with itself, and leaves half of its
// derivatives in dc.half.
//
// It is bilinear in the distances of both events, and half
// of the derivative is that by one of them. Since these are linear in z between
// ties, the sum of z times derivative is dCov^2 itself.
func (dc *disco) variance(fm *form, ax *axis, name string) (float64, error) {
	rowSums(ax.row, ax.z, ax.w)
	dc.half, dc.values = par.Grown(dc.half, len(ax.z)), par.Grown(dc.values, len(ax.z))
	var w, wz, w2, w2z, all sum
	for k, z := range ax.z {
		weight := ax.w[k]
		w.add(weight)
		wz.add(weight * z)
		w2.add(weight * weight)
		w2z.add(weight * weight * z)
		all.add(weight * ax.row[k])
	}
	for k, row := range ax.row {
		dc.values[k] = fm.factor(ax.w[k], row, all.value())
	}
	signedSums(dc.half, ax.z, ax.w, dc.values)
	var total sum
	var size float64
	for k, z := range ax.z {
		pairs := fm.ofPairs(ax.w[k], z*w.value()-wz.value(), z*w2.value()-w2z.value())
		dc.half[k] += pairs
		total.add(z * dc.half[k])
		size += math.Abs(z * pairs)
	}
	variance := total.value()
	// The largest |z| is about 1, so that a small size is one event far from all others.
	if !(variance > roundingFloor*size && size > 0x1p-900) {
		return 0, errorOf(ErrUndefined, "%s: the distance variance of the %d selected events is %.3g times their mean squared distance, "+
			"so that DisCo, which divides by its root, is not defined: all but one of them agree in double precision, or negative weights outweigh the others",
			name, len(ax.z), variance/max(size, math.SmallestNonzeroFloat64))
	}
	return variance, nil
}

// covariance returns dCov^2 of mass and score, and leaves its derivatives by
// the scores in dc.slope.
func (dc *disco) covariance(fm *form, team *par.Team) float64 {
	n := len(dc.rank)
	dc.events, dc.pair, dc.slope = par.Grown(dc.events, n), par.Grown(dc.pair, n), par.Grown(dc.slope, n)
	factors := dc.values
	var all sum
	for r, m := range dc.mass.z {
		w, row := dc.mass.w[r], dc.mass.row[r]
		dc.events[r] = massEvent{m, w, row, dc.index[r]}
		all.add(w * row)
	}
	dc.pairSums(dc.pair, team)
	for k := range dc.byScore {
		ev := &dc.byScore[k]
		factors[k] = fm.factor(ev.w, ev.row, all.value())
	}
	signedSums(dc.slope, dc.score.z, dc.score.w, factors)
	if fm.squares {
		for r, w := range dc.mass.w {
			dc.mass.w[r] = w * w
		}
		rowSums(dc.mass.row, dc.mass.z, dc.mass.w)
		for r, w := range dc.mass.w {
			dc.events[r].w, dc.events[r].row = w, dc.mass.row[r]
		}
		dc.pair2 = par.Grown(dc.pair2, n)
		dc.pairSums(dc.pair2, team)
	}
	var covariance sum
	for k, z := range dc.score.z {
		var second float64
		if fm.squares {
			second = dc.pair2[k]
		}
		dc.slope[k] += fm.ofPairs(dc.score.w[k], dc.pair[k], second)
		covariance.add(z * dc.slope[k])
	}
	return covariance.value()
}
