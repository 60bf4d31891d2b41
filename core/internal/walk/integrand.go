package walk

import (
	"math"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/config"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/lanes"
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
	start      []bin     // the constants of each bin, with F_b = 0
	squares    []float64 // sums of the squares of steps, in rows like Records.Sums; nil: the weights are equal
	unbiased   bool      // the bias is subtracted
	measured   bool      // the integral of the bias is wanted, and can be known
	basis      *moments.Basis
	correction *correction // nil: no moment is bounded

	// Of the linear form, see setLinear.
	span    *moments.Basis // of the functions that cost nothing
	penalty float64
	x, y    []float64     // a row for each bin; y is nil where it is 0
	rows    [][]lanes.Row // see setRows
}

// NewIntegrand returns the integrand of the MoDe loss of sorted records, for a bias that is measured, subtracted or neither.
func NewIntegrand(c *config.Config, measured bool, ba *moments.Basis, bs *bins.Bins, rs *order.Records, unit float64, sc *par.Scratch) (*Integrand, error) {
	in := &Integrand{bins: bs.Count(), scale: 1, basis: ba}
	if c.Reduction == config.Mean {
		in.scale /= float64(in.bins)
	}
	if err := in.setSteps(bs, rs, unit, sc); err != nil {
		return nil, err
	}
	in.setLinear(c.SlopePenalty, &sc.Arena)
	if in.unbiased = !c.Biased; in.unbiased || measured {
		err := in.setVariance(bs, rs, sc)
		if in.measured = measured && err == nil; err != nil && in.unbiased {
			return nil, err
		}
	}
	if c.Bounded() {
		in.correction = newCorrection(in, moments.NewBound(c, ba), &sc.Arena)
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
func FlatIntegrand(bs *bins.Bins, rs *order.Records, unit float64, sc *par.Scratch) (*Integrand, error) {
	in := &Integrand{bins: bs.Count(), scale: 1}
	if err := in.setSteps(bs, rs, unit, sc); err != nil {
		return nil, err
	}
	totals, all := rs.Totals(), 0.0
	for _, total := range totals {
		all += total
	}
	roots := par.Make[float64](&sc.Arena, in.bins)
	for b, total := range totals {
		roots[b] = math.Sqrt(total / all)
		in.step[b] *= roots[b]
	}
	in.basis = moments.NewOrthonormal(roots, in.bins, &sc.Arena)
	in.setLinear(0, &sc.Arena)
	return in, nil
}

// setSteps sets the steps to 1/W_b. The weights of the records are in the given unit.
func (in *Integrand) setSteps(bs *bins.Bins, rs *order.Records, unit float64, sc *par.Scratch) error {
	in.step = par.Unset[float64](&sc.Arena, in.bins)
	for b, sum := range rs.Totals() {
		in.step[b] = 1 / sum
		if err := bins.CheckSum(bs, b, sum, unit); err != nil {
			return err
		}
	}
	return nil
}

// limits are those of the integral over the scores.
type limits struct {
	from, to float64
	open     bool // to is the highest score
	logits   bool // the integral is over the probabilities of the scores
}

func limitsOf(score [2]float64, stats *events.Stats) limits {
	if math.IsInf(score[0], -1) {
		return limits{from: stats.ScoreMin, to: stats.ScoreMax, open: true}
	}
	return limits{from: score[0], to: score[1]}
}
