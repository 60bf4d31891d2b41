package core

import (
	"math"

	"github.com/libmode/libmode/core/internal/par"
)

// integrand is what J is, for walkers that follow it along the scores: none of them
// changes it. With bounds, c~ is not linear in F and bound is not nil (bounded.go);
// without, J is a quadratic form of F (linear.go).
type integrand struct {
	bins      int
	scale     float64   // the loss is scale times the integral of J
	unit      []float64 // by how much an event of weight 1 moves F_b: 1/W_b
	basis     *basis
	penalty   float64
	variance  *variance  // nil: the bias stays
	bound     *bound     // nil: no moment is bounded
	linear    *linear    // J without bounds; nil: not needed, since moments are bounded and not far apart (bounded_far.go)
	stretched *stretched // nil: the loss needs no look
}

// newIntegrand returns the integrand of the MoDe loss. To the sums it adds those that
// the bias needs.
func newIntegrand[T Float](cfg *Config, bs *bins, rs *records[T], su *sums, weightUnit float64, sc *scratch) (*integrand, error) {
	in := par.New(&sc.arena, integrand{bins: bs.count(), scale: 1, penalty: cfg.SlopePenalty})
	if cfg.Reduction == Mean {
		in.scale /= float64(in.bins)
	}
	var err error
	if in.unit, err = inverseSums(bs, su.all(), weightUnit, &sc.arena); err != nil {
		return nil, err
	}
	if in.basis, err = newBasis(bs, cfg, &sc.arena); err != nil {
		return nil, err
	}
	if cfg.bounded() {
		in.bound = newBound(cfg, in.basis)
	}
	if in.bound == nil || in.basis.nearlyDependent() {
		in.linear = newLinear(in.basis, in.penalty, &sc.arena)
	}
	in.stretched = stretchedOf(cfg, in.basis, bs.newton)
	if cfg.Unbiased || cfg.measured {
		in.variance, err = newVariance(bs, rs, su, in.unit, sc)
	}
	return in, err
}

// plain returns the integrand without the bias, and sums for it.
func (in *integrand) plain(su *sums, sc *scratch) (*integrand, *sums) {
	without, sums := par.New(&sc.arena, *in), par.New(&sc.arena, *su)
	without.variance, sums.squares = nil, nil
	return without, sums
}

// unbounded returns J as it is without bounds.
func (in *integrand) unbounded(sc *scratch) *linear {
	if in.linear != nil {
		return in.linear
	}
	return newLinear(in.basis, in.penalty, &sc.arena)
}

// step is what crossing one event does to its bin: F_b grows by e and the sum
// of squared steps by square. Reversed, it takes the event out again.
type step struct {
	bin       int
	e, square float64
}

func (st step) reversed() step { return step{st.bin, -st.e, -st.square} }

func (st step) half() step { return step{st.bin, st.e / 2, st.square / 2} }

// point is where a walk stands: the CDFs of the bins, and what their variances are
// made of.
type point struct {
	cdf     []float64
	squares []float64 // sums of squared steps; nil without variances
}

// moveTo brings the point to where chunk k begins.
func (pt *point) moveTo(k int, in *integrand, su *sums) { pt.moveBetween(k, k, in, su) }

// moveBetween brings the point to the middle between where chunks k and l begin.
func (pt *point) moveBetween(k, l int, in *integrand, su *sums) {
	pt.cdf = par.Grown(pt.cdf, in.bins)
	pt.squares = pt.squares[:0]
	if in.variance != nil {
		pt.squares = par.Grown(pt.squares, in.bins)
	}
	for b, unit := range in.unit {
		pt.cdf[b] = (su.totals[k*in.bins+b] + su.totals[l*in.bins+b]) / 2 * unit
		switch {
		case in.variance == nil:
		case su.squares == nil: // all steps are equal
			pt.squares[b] = pt.cdf[b] * unit
		default:
			pt.squares[b] = (su.squares[k*in.bins+b] + su.squares[l*in.bins+b]) / 2
		}
	}
}

func (pt *point) cross(st step) {
	pt.cdf[st.bin] += st.e
	if pt.squares != nil {
		pt.squares[st.bin] += st.square
	}
}

// kernel follows c, c~ and J as events are crossed, with work per event that
// does not depend on the number of bins.
type kernel interface {
	// start moves to a point, which it then takes along, and returns J there.
	start(*point) float64
	// change returns by how much J would change, and leaves everything as it is.
	change(step) float64
	// cross makes a step and returns by how much J has changed.
	cross(step) float64
}

func (in *integrand) newKernel() kernel {
	switch {
	case in.bound == nil:
		return newLinearKernel(in)
	case in.linear != nil:
		return newFarKernel(in)
	}
	return newBoundedKernel(in)
}

// inverseSums returns 1/W_b. Sums are of weights in the given unit.
func inverseSums(bs *bins, sums []float64, unit float64, arena *par.Arena) ([]float64, error) {
	inverse := par.Make[float64](arena, len(sums))
	for b, sum := range sums {
		inverse[b] = 1 / sum
		if err := checkSum(bs, b, sum, unit); err != nil {
			return nil, err
		}
	}
	return inverse, nil
}

// checkSum returns an error where no CDF can be made with a bin's sum of weights.
func checkSum(bs *bins, b int, sum, unit float64) error {
	if sum == 0 {
		return bs.error(b, "has sum of weights 0: it is empty, or its weights cancel; "+
			"use fewer or wider bins, quantile bins or larger batches")
	}
	if !(sum > 0) || !finite(sum) || !finite(1/sum) {
		return bs.error(b, "has sum of weights %v, which must be positive and finite: "+
			"use fewer or wider bins, quantile bins or larger batches", sum/unit)
	}
	return nil
}

// limits are those of the integral over the scores.
type limits struct {
	from, to float64
	open     bool // to is the highest score
}

func limitsOf(cfg *Config, st *stats) limits {
	if math.IsInf(cfg.ScoreRange[0], -1) {
		return limits{st.scoreMin, st.scoreMax, true}
	}
	return limits{cfg.ScoreRange[0], cfg.ScoreRange[1], false}
}
