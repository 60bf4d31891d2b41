package core

import (
	"math"

	"github.com/libmode/libmode/core/internal/par"
)

// integrand is what J is, for walkers that follow it along the scores: none of them
// changes it. Without bounds J is a quadratic form of F (linear.go); bounds add a correction (correction.go).
type integrand struct {
	bins       int
	scale      float64   // the loss is scale times the integral of J
	unit       []float64 // by how much an event of weight 1 moves F_b: 1/W_b
	basis      *basis
	variance   *variance // nil: the bias stays
	linear     *linear
	correction *correction // nil: no moment is bounded
	stretched  *stretched  // nil: the loss needs no look
}

// newIntegrand returns the integrand of the MoDe loss. To the sums it adds those that
// the bias needs.
func newIntegrand[T Float](cfg *Config, bs *bins, rs *records[T], su *sums, weightUnit float64, sc *scratch) (*integrand, error) {
	in := par.New(&sc.arena, integrand{bins: bs.count(), scale: 1})
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
	in.linear = newLinear(in.basis, cfg.SlopePenalty, in.unit, &sc.arena)
	in.stretched = stretchedOf(cfg, in.basis, bs.newton)
	if cfg.Unbiased || cfg.measured {
		if in.variance, err = newVariance(bs, rs, su, in.unit, sc); err != nil {
			return nil, err
		}
	}
	if cfg.bounded() {
		in.correction = newCorrection(in, newBound(cfg, in.basis), &sc.arena)
	}
	return in, nil
}

// plain returns the integrand without the bias, and sums for it.
func (in *integrand) plain(su *sums, sc *scratch) (*integrand, *sums) {
	without, sums := par.New(&sc.arena, *in), par.New(&sc.arena, *su)
	without.variance, sums.squares = nil, nil
	if in.correction != nil {
		without.correction = newCorrection(without, in.correction.bound, &sc.arena)
	}
	return without, sums
}

// step is what crossing one event does to its bin: F_b grows by e and the sum
// of squared steps by square.
type step struct {
	bin       int
	e, square float64
}

// point is where a walk stands: the CDFs of the bins, and what their variances are
// made of.
type point struct {
	cdf     []float64
	squares []float64 // sums of squared steps; nil without variances
}

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
