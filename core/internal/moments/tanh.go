package moments

import "math"

// tanh returns the hyperbolic tangent to two units in the last place, in half of the time of math.Tanh. Bounds spend most of their time here.
func tanh(x float64) float64 {
	size := math.Abs(x)
	if size < 0.625 { // the rational function of math.Tanh
		s := x * x
		return x + x*s*((-9.64399179425052238628e-1*s-9.92877231001918586564e1)*s-1.61468768441708447952e3)/
			(((s+1.12811678491632931402e2)*s+2.23548839060100448583e3)*s+4.84406305325125486048e3)
	}
	t := expMinus(2 * size)
	return math.Copysign((1-t)/(1+t), x)
}

// powers are 2^(-k/32).
var powers = func() (all [32]float64) {
	for k := range all {
		all[k] = math.Exp2(-float64(k) / 32)
	}
	return all
}()

// expMinus returns exp(-x) for x from 0 to 700, as a power of 2^(1/32) times a series of few terms.
func expMinus(x float64) float64 {
	const (
		inverse = 32 / math.Ln2
		hi      = 6.93147180369123816490e-01 / 32 // so few digits that multiples up to 2^20 are exact
		lo      = 1.90821492927058770002e-10 / 32
	)
	k := int64(x*inverse + 0.5)
	r := (float64(k)*hi - x) + float64(k)*lo
	s := r * r
	p := r + s*((0.5+r*(1./6))+s*((1./24+r*(1./120))+s*(1./720)))
	power := powers[k&31]
	return math.Float64frombits(math.Float64bits(power+power*p) - uint64(k>>5)<<52)
}
