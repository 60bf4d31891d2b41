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
	basis      *moments.Basis
	correction *correction // nil: no moment is bounded

	// Of the linear form, see setLinear.
	span    *moments.Basis // of the functions that cost nothing
	penalty float64
	x, y    []float64 // a row for each bin; y is nil where it is 0
	// rows are columns times sqrt(2)/W_b, three of x and three of y at a time. The first have 2 F_b/W_b too, and where all weights
	// are 1, the terms of M_bb e^2 and V_b, see crossing.
	rows [][]lanes.Row
}

// newIntegrand returns the integrand of sorted records.
func newIntegrand(p *Plan, unbiased bool, ba *moments.Basis, bs *bins.Bins, rs *sorted.Records, sc *par.Scratch) (*integrand, error) {
	in := &integrand{bins: bs.Count(), scale: 1, basis: ba, unbiased: unbiased}
	if !p.Sum {
		in.scale /= float64(in.bins)
	}
	in.step = par.Unset[float64](&sc.Arena, in.bins)
	for b, sum := range rs.Totals() {
		in.step[b] = 1 / sum
	}
	in.setLinear(p.SlopePenalty, &sc.Arena)
	if unbiased {
		if err := in.setVariance(bs, rs, sc); err != nil {
			return nil, err
		}
	}
	if rs.Weights == nil {
		in.foldSquares()
	}
	if p.Bounded() {
		in.correction = newCorrection(in, moments.NewBound(&p.Options, ba), &sc.Arena)
	}
	return in, nil
}

// foldSquares adds the terms of M_bb e^2 and of V_b to the rows, where e = 1/W_b at each event.
func (in *integrand) foldSquares() {
	for i := range in.start {
		b, row := &in.start[i], &in.rows[0][i]
		own := b.square * b.step * b.step
		g := own * b.factor // 0 if the bias is not subtracted
		row.Y[3] = own - g*(1-b.step)
		row.X[3] += 2 * g * b.step
	}
}
