package core

import "math"

// tanhAndSlope returns tanh u and 1 - tanh^2 u, each to a few units in its last place. They are made
// of math.Expm1, which takes the same steps on every amd64 processor: math.Exp, of which math.Tanh
// is made, takes others where there is FMA.
func tanhAndSlope(u float64) (tanh, slope float64) {
	e := math.Expm1(-2 * math.Abs(u)) // tanh |u| = (1 - exp(-2|u|)) / (1 + exp(-2|u|))
	sum := 2 + e
	return math.Copysign(-e/sum, u), 4 * expOfNegative(-2*math.Abs(u)) / (sum * sum)
}

// expOfNegative returns exp x for x from -700 to 0.
func expOfNegative(x float64) float64 {
	const upper, lower = 6.93147180369123816490e-01, 1.90821492927058770002e-10 // of ln 2
	k := math.Floor(x/math.Ln2 + 0.5)
	rest := (x - float64(k*upper)) - float64(k*lower)
	return math.Ldexp(1+math.Expm1(rest), int(k))
}
