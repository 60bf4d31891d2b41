package walk

import (
	"math"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/config"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/order"
	"github.com/libmode/libmode/core/internal/par"
)

// Integrand defines J. No walk changes it. Without bounds J is a quadratic form of the CDFs (linear.go). Bounds add a
// correction (correction.go).
type Integrand struct {
	bins       int
	scale      float64   // the loss is scale times the integral of J
	step       []float64 // 1/W_b: by how much an event of weight 1 moves F_b
	basis      *moments.Basis
	variance   *variance // nil: the bias is not subtracted
	linear     *linear
	bound      *moments.Bound // nil: no moment is bounded, and there is no correction
	correction *correction
}

// NewIntegrand returns the integrand of the MoDe loss of sorted records. It adds the sums of squares if the bias needs them:
// if it is subtracted, or measured.
func NewIntegrand(c *config.Config, measured bool, ba *moments.Basis, bs *bins.Bins, rs *order.Records, su *order.Sums, unit float64, sc *par.Scratch) (*Integrand, error) {
	in := &Integrand{bins: bs.Count(), scale: 1, basis: ba}
	if c.Reduction == config.Mean {
		in.scale /= float64(in.bins)
	}
	var err error
	if in.step, err = inverseSums(bs, su.All(), unit, &sc.Arena); err != nil {
		return nil, err
	}
	in.linear = newLinear(ba, c.SlopePenalty, in.step, &sc.Arena)
	if !c.Biased || measured {
		if in.variance, err = newVariance(bs, rs, su, in.step, sc); err != nil && !c.Biased {
			return nil, err
		}
	}
	if c.Bounded() {
		in.bound = moments.NewBound(c, ba)
		in.correction = newCorrection(in, in.bound, &sc.Arena)
	}
	return in, nil
}

// FlatIntegrand returns the integrand of the flatness loss of J. Stevens and M. Williams, arXiv:1305.7248, as
// arXiv:2010.09745 writes it,
//
//	L = sum_b share_b integral |F_b(s) - F(s)|^2 ds,   F(s) = sum_b share_b F_b(s)
//
// where share_b is the bin's fraction of the sum of weights, so that F is the CDF of all events. It follows
// sqrt(share_b) F_b in place of F_b: then P_b = A_b = sqrt(share_b) gives the moment c = F and the residual
// sqrt(share_b) (F_b - F), whose squares J adds up.
func FlatIntegrand(bs *bins.Bins, su *order.Sums, unit float64, sc *par.Scratch) (*Integrand, error) {
	in := &Integrand{bins: bs.Count(), scale: 1}
	totals := su.All()
	var err error
	if in.step, err = inverseSums(bs, totals, unit, &sc.Arena); err != nil {
		return nil, err
	}
	var all float64
	for _, total := range totals {
		all += total
	}
	roots := par.Make[float64](&sc.Arena, in.bins)
	for b, total := range totals {
		roots[b] = math.Sqrt(total / all)
		in.step[b] *= roots[b]
	}
	in.basis = moments.OfShares(roots, &sc.Arena)
	in.linear = newLinear(in.basis, 0, in.step, &sc.Arena)
	return in, nil
}

// plain returns the integrand without the bias, and sums for it.
func (in *Integrand) plain(su *order.Sums, sc *par.Scratch) (*Integrand, *order.Sums) {
	without, sums := *in, *su
	without.variance, sums.Squares = nil, nil
	if in.bound != nil {
		without.correction = newCorrection(&without, in.bound, &sc.Arena)
	}
	return &without, &sums
}

// inverseSums returns 1/W_b. Sums are of weights in the given unit.
func inverseSums(bs *bins.Bins, sums []float64, unit float64, arena *par.Arena) ([]float64, error) {
	inverse := par.Make[float64](arena, len(sums))
	for b, sum := range sums {
		inverse[b] = 1 / sum
		if err := bins.CheckSum(bs, b, sum, unit); err != nil {
			return nil, err
		}
	}
	return inverse, nil
}

// limits are those of the integral over the scores.
type limits struct {
	from, to float64
	open     bool // to is the highest score
}

func limitsOf(score [2]float64, stats *events.Stats) limits {
	if math.IsInf(score[0], -1) {
		return limits{stats.ScoreMin, stats.ScoreMax, true}
	}
	return limits{score[0], score[1], false}
}
