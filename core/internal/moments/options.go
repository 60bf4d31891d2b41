package moments

import "math"

// MaxOrder is the highest order.
const MaxOrder = 16

// Options are the options of moments, of the same names as in core.Config.
type Options struct {
	Order                  int
	Quadrature, OfSelected bool    // Moments is Quadrature; SlopeOf is Selected
	MaxSlope, SlopePenalty float64 // MaxSlope is +Inf for none
	Monotonic, Biased      bool
}

// Bounded reports whether moments are bounded, so that c~ is not linear in F.
func (o *Options) Bounded() bool { return !math.IsInf(o.MaxSlope, 1) || o.Monotonic }
