package moments

import (
	"fmt"
	"math"

	"github.com/libmode/libmode/core/internal/errs"
)

// rounding up to exactTo of the largest element of the gradient is what the package promises; more than knownTo is an
// error.
const (
	exactTo = 1e-9
	knownTo = 1e-6
)

// checkRounding warns, or returns an error, where rounding costs a fit, or its moments, this part of them. What the fit
// leaves of F is smaller than F, in a bin of n events with no response about 1/sqrt(n) of it, and so is the gradient.
func (nw *Newton) checkRounding(part, events float64, o *Options) error {
	part *= math.Sqrt(max(1, events))
	says := func(by string) string {
		return fmt.Sprintf("mass = %v is so far from most others that rounding may change the gradient by %s of its largest element with order = %d: "+
			"give a mass_range without such masses, or a lower order", nw.Farthest(), by, o.Order)
	}
	switch {
	case !(part <= knownTo):
		return errs.Of(errs.ErrOverflow, "%s", says(fmt.Sprintf("more than %v", knownTo)))
	case part > exactTo && o.Warn != nil:
		o.Warn(says(fmt.Sprintf("%.0e", part)))
	}
	return nil
}

// Farthest returns the mass at the end of the range that is farther from the middle bin.
func (nw *Newton) Farthest() float64 {
	if nw.nodes[0]-nw.lo > nw.hi-nw.nodes[0] {
		return nw.lo
	}
	return nw.hi
}

// Stretched returns the mass that stretches the range to which bounds and penalty of the moments refer beyond what most
// masses fill, so that a loss can be larger than the mean square of any F_b. ok is false where there is none.
func (ba *Basis) Stretched(nw *Newton, o *Options) (mass float64, ok bool) {
	if _, to := o.lookedAt(); to == 0 || !ba.NearlyDependent() {
		return 0, false
	}
	return nw.Farthest(), true
}
