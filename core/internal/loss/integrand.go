package loss

import (
	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/sorted"
)

// integrand defines J. No walk changes it. Without bounds J is a quadratic form of the CDFs (linear.go). Bounds add a
// correction (correction.go).
type integrand struct {
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
	x, y    []float64 // a row for each bin; y is nil where it is 0
	// rows are columns times sqrt(2)/W_b, three of x and three of y at a time. The first have 2 F_b/W_b too, and where all weights
	// are 1, the terms of M_bb e^2 and V_b, see crossing. Then biasRows have the bias, if it is measured.
	rows     [][]lanes.Row
	biasRows []lanes.Row
}

// newIntegrand returns the integrand of sorted records, for a bias that is measured, subtracted or neither.
func newIntegrand(p *Plan, measured bool, ba *moments.Basis, bs *bins.Bins, rs *sorted.Records, sc *par.Scratch) (*integrand, error) {
	in := &integrand{bins: bs.Count(), scale: 1, basis: ba}
	if !p.Sum {
		in.scale /= float64(in.bins)
	}
	in.step = par.Unset[float64](&sc.Arena, in.bins)
	for b, sum := range rs.Totals() {
		in.step[b] = 1 / sum
	}
	in.setLinear(p.SlopePenalty, &sc.Arena)
	if in.unbiased = !p.Biased; in.unbiased || measured {
		err := in.setVariance(bs, rs, sc)
		if in.measured = measured && err == nil; err != nil && in.unbiased {
			return nil, err
		}
	}
	if rs.Weights == nil {
		in.foldSquares(&sc.Arena)
	}
	if p.Bounded() {
		in.correction = newCorrection(in, moments.NewBound(&p.Options, ba), &sc.Arena)
	}
	return in, nil
}

// foldSquares adds the terms of M_bb e^2 and of V_b to the rows, where e = 1/W_b at each event.
func (in *integrand) foldSquares(arena *par.Arena) {
	if in.measured {
		in.biasRows = par.Make[lanes.Row](arena, in.bins)
	}
	for i := range in.start {
		b, row := &in.start[i], &in.rows[0][i]
		own := b.square * b.step * b.step
		g := own * b.factor
		if in.measured {
			in.biasRows[i].Y[3], in.biasRows[i].X[3] = g*(1-b.step), -2*g*b.step
		}
		if row.Y[3] = own; in.unbiased {
			row.Y[3] -= g * (1 - b.step)
			row.X[3] += 2 * g * b.step
		}
	}
}
