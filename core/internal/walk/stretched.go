package walk

import (
	"fmt"
	"math"
)

// stretched is what makes a loss larger than the mean square of any F_b: bounds of moments that are, or a penalty on
// a slope that is, relative to a range of masses that most of them do not fill.
type stretched struct {
	mass float64
	warn func(string)
}

// stretchedOf returns nil where there is no such thing, or nobody listens.
func stretchedOf(o *Options, ba Basis) *stretched {
	if o.Moments.Warn == nil || ba.Newton == nil {
		return nil
	}
	mass, ok := ba.Stretched(ba.Newton, &o.Moments)
	if !ok {
		return nil
	}
	return &stretched{mass, o.Moments.Warn}
}

// check warns where an integral of J over a range of scores, with so many bins, is too large.
func (st *stretched) check(integral float64, bins int, li limits, scale float64) {
	if st != nil && math.Abs(integral) > float64(bins)*(li.to-li.from) {
		st.warn(fmt.Sprintf("loss = %.2g: mass = %v is so far from most others that the moments of the response to which max_slope, monotonic and "+
			"slope_penalty refer are those of a range that most masses do not fill: give a mass_range without such masses", scale*integral, st.mass))
	}
}
