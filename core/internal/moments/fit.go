package moments

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Bounded returns the bounded moments of c.
func Bounded(cfg *Options, ba *Basis, c []float64) []float64 {
	if !cfg.Bounded() {
		return slices.Clone(c)
	}
	return NewBound(cfg, ba).Apply(c)
}

// Residuals replaces the F_b of all bins at one score by the residuals r_b = F_b - sum_l c~_l P_bl.
func Residuals(cfg *Options, ba *Basis, cdf []float64) {
	if !cfg.Bounded() && ba.Orthonormal != nil {
		ba = ba.Orthonormal // it has the P of an unbounded projection
	}
	c := make([]float64, ba.Size)
	ba.Moments(c, cdf)
	c = Bounded(cfg, ba, c)
	for b := range cdf {
		cdf[b] -= floats.Dot(c, ba.RowP(b))
	}
}
