// Package moments turns the CDFs of the bins into moments and moments back into CDFs: the fit of the functions of the mass
// that cost nothing, and the bounds on its moments.
package moments

import "math"

// MaxOrder is the highest order of polynomials.
const MaxOrder = 16

// Options define the response that costs nothing.
type Options struct {
	Order      int
	Quadrature bool    // the paper's moments, in place of the fit
	MaxSlope   float64 // of |c_1| over c_0, or over 1 - c_0 where Selected; +Inf: no bound
	Selected   bool
	Monotonic  bool
	Penalty    float64 // adds Penalty c_1^2 to J
	Unbiased   bool    // the bias is subtracted, in which rounding shows first
}

// Bounded reports whether moments are bounded, so that c~ is not linear in F.
func (o *Options) Bounded() bool { return !math.IsInf(o.MaxSlope, 1) || o.Monotonic }

// used returns the moments from..to-1 whose own values matter: c_1 for a penalty, c_0 and c_1 for max_slope, and all for
// monotonic. Without these, J depends on the product P A alone.
func (o *Options) used() (from, to int) {
	switch {
	case o.Monotonic:
		return 0, o.Order + 1
	case o.Bounded():
		return 0, 2
	case o.Penalty > 0:
		return 1, 2
	}
	return 0, 0
}
