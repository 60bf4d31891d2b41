package moments

import (
	"github.com/libmode/libmode/core/internal/config"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Fit is the response that a basis and its bounds allow. It is a copy, which outlives the arena of the basis.
type Fit struct {
	size  int
	p, a  []float64 // a row for each bin
	bound *Bound    // nil: no moment is bounded
}

// NewFit returns the fit of a basis.
func NewFit(ba *Basis, c *config.Config) *Fit {
	var bound *Bound
	if c.Bounded() {
		bound = NewBound(c, ba)
	} else if ba.Orthonormal != nil {
		ba = ba.Orthonormal // it has the P of an unbounded projection
	}
	return &Fit{ba.Size, slices.Clone(ba.P), slices.Clone(ba.A), bound}
}

// Subtract sets cdf, the F_b of all bins at one score, to the residuals r_b = F_b - sum_l c~_l P_bl.
func (f *Fit) Subtract(cdf []float64) {
	c := make([]float64, f.size)
	for b, value := range cdf {
		floats.AddScaled(c, value, f.a[b*f.size:][:f.size])
	}
	if f.bound != nil {
		c = f.bound.Apply(c)
	}
	for b := range cdf {
		cdf[b] -= floats.Dot(c, f.p[b*f.size:][:f.size])
	}
}
