package core

import (
	"fmt"
	"math"
	"sync"
)

// rounding up to exactTo of the largest element of the gradient is what the package promises; more than knownTo is an
// error.
const (
	exactTo = 1e-9
	knownTo = 1e-6
)

// checkRounding warns, or returns an error, where rounding costs a fit, or its moments, this part of them. What the fit
// leaves of F is smaller than F, in a bin of n events with no response about 1/sqrt(n) of it, and so is the gradient.
func (bs *bins) checkRounding(part float64, cfg *Config) error {
	part *= math.Sqrt(max(1, bs.events))
	says := func(by string) string {
		return fmt.Sprintf("mass = %v is so far from most others that rounding may change the gradient by %s of its largest element with order = %d: "+
			"give a mass_range without such masses, or a lower order", bs.newton.farthest(), by, cfg.Order)
	}
	switch {
	case !(part <= knownTo):
		return errorOf(ErrOverflow, "%s", says(fmt.Sprintf("more than %v", knownTo)))
	case part > exactTo && cfg.warn != nil:
		cfg.warn(says(fmt.Sprintf("%.0e", part)))
	}
	return nil
}

// farthest returns the mass at the end of the range that is farther from the middle bin.
func (nw *newton) farthest() float64 {
	if nw.nodes[0]-nw.lo > nw.hi-nw.nodes[0] {
		return nw.lo
	}
	return nw.hi
}

// stretched is what makes a loss larger than the mean square of any F_b: bounds of moments that are, or a penalty on
// a slope that is, relative to a range of masses that most of them do not fill.
type stretched struct {
	mass float64
	warn func(string)
}

// stretchedOf returns nil where there is no such thing, or nobody listens.
func stretchedOf(cfg *Config, ba *basis, nw *newton) *stretched {
	if _, moments := cfg.lookedAt(); cfg.warn == nil || moments == 0 || !ba.nearlyDependent() {
		return nil
	}
	return &stretched{nw.farthest(), cfg.warn}
}

// check warns where an integral of J over a range of scores, with so many bins, is too large.
func (st *stretched) check(integral float64, bins int, li limits, scale float64) {
	if st != nil && math.Abs(integral) > float64(bins)*(li.to-li.from) {
		st.warn(fmt.Sprintf("loss = %.2g: mass = %v is so far from most others that the moments of the response to which max_slope, monotonic and "+
			"slope_penalty refer are those of a range that most masses do not fill: give a mass_range without such masses", scale*integral, st.mass))
	}
}

// once returns a function that passes on the first call alone, whichever goroutine makes it.
func once(warn func(string)) func(string) {
	if warn == nil {
		return nil
	}
	var first sync.Once
	return func(says string) { first.Do(func() { warn(says) }) }
}
