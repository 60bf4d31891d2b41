package lanes

import "math"

// TanhSech returns tanh u and 1/cosh u, each to a few units in its last place; of a |u| above
// steepest, what they are of that. With E = exp(-|u|) - 1 they are
//
//	-E (2 + E) / (1 + (1 + E)^2),   2 (1 + E) / (1 + (1 + E)^2)
//
// where E = 2^k (exp(r) - 1) + (2^k - 1), |u| = -k ln 2 - r, |r| <= ln(2)/2.
func TanhSech(u float64) (tanh, sech float64) {
	x := -min(math.Abs(u), steepest)
	shifted := float64(x*inverseLn2) + roundingShift
	k := shifted - roundingShift
	r := (x - float64(k*upperLn2)) - float64(k*lowerLn2)
	power := math.Float64frombits((math.Float64bits(shifted) + exponentBias) << 52)
	y := float64(r * r)
	even, odd := expEven[0], expOdd[0]
	for i := 1; i < len(expEven); i++ {
		even, odd = expEven[i]+float64(even*y), expOdd[i]+float64(odd*y)
	}
	scaled := float64(power * (r + float64(y*(even+float64(odd*r)))))
	e, exp := scaled+(power-1), scaled+power
	inverse := 1 / (1 + float64(exp*exp))
	return math.Copysign(float64(float64(e*(1+exp))*inverse), u), float64(float64(2*exp) * inverse)
}

// steepest is a |u| above which 1/cosh^2 u is as good as 0.
const steepest = 340

const (
	roundingShift = 3 << 51 // what is added to it is rounded to an integer, in its lowest bits
	exponentBias  = 1023
	inverseLn2    = 1 / math.Ln2
	upperLn2      = 6.93147180369123816490e-01 // ends in zeros, so that its product with k is exact
	lowerLn2      = 1.90821492927058770002e-10
)

// The series (exp(r) - 1 - r)/r^2 = 1/2! + r/3! + ..., of which what is left out is below
// 2e-17 of exp(r) - 1, in its even and its odd powers of r.
var (
	expEven = [6]float64{1.0 / 479001600, 1.0 / 3628800, 1.0 / 40320, 1.0 / 720, 1.0 / 24, 1.0 / 2}
	expOdd  = [6]float64{1.0 / 6227020800, 1.0 / 39916800, 1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6}
)
