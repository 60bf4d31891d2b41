package moments

import (
	"slices"

	"github.com/libmode/libmode/core/internal/config"
	"gonum.org/v1/gonum/floats"
)

// Residuals returns the function that replaces the F_b of all bins at one score by the residuals r_b = F_b - sum_l c~_l P_bl. It
// outlives the arena of the basis.
func Residuals(ba *Basis, c *config.Config) func(cdf []float64) {
	apply := slices.Clone[[]float64]
	if c.Bounded() {
		apply = NewBound(c, ba).Apply
	} else if ba.Orthonormal != nil {
		ba = ba.Orthonormal // it has the P of an unbounded projection
	}
	own := &Basis{Size: ba.Size, P: slices.Clone(ba.P), A: slices.Clone(ba.A)}
	return func(cdf []float64) {
		c := make([]float64, own.Size)
		own.Moments(c, cdf)
		c = apply(c)
		for b := range cdf {
			cdf[b] -= floats.Dot(c, own.RowP(b))
		}
	}
}
