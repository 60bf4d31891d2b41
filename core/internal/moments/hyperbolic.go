package moments

import "math"

// tanhSech returns tanh u and 1/cosh u to a few units in their last places. A |u| above steepest counts as steepest. With
// E = exp(-|u|) - 1 they are
//
//	-E (2 + E) / (1 + (1 + E)^2),   2 (1 + E) / (1 + (1 + E)^2)
//
// where E = 2^k (exp(r) - 1) + (2^k - 1), |u| = -k ln 2 - r, |r| <= ln(2)/2.
func tanhSech(u float64) (tanh, sech float64) {
	x := -math.Abs(u)
	if x < -steepest {
		x = -steepest
	}
	shifted := float64(x*inverseLn2) + roundingShift
	k := shifted - roundingShift
	r := (x - float64(k*upperLn2)) - float64(k*lowerLn2)
	power := math.Float64frombits((math.Float64bits(shifted) + exponentBias) << 52)
	y := float64(r * r)
	even := exp10 + float64(exp12*y)
	even = exp8 + float64(even*y)
	even = exp6 + float64(even*y)
	even = exp4 + float64(even*y)
	even = exp2 + float64(even*y)
	odd := exp11 + float64(exp13*y)
	odd = exp9 + float64(odd*y)
	odd = exp7 + float64(odd*y)
	odd = exp5 + float64(odd*y)
	odd = exp3 + float64(odd*y)
	scaled := float64(power * (r + float64(y*(even+float64(odd*r)))))
	e, exp := scaled+(power-1), scaled+power
	inverse := 1 / (1 + float64(exp*exp))
	return math.Copysign(float64(float64(e*(1+exp))*inverse), u), float64((exp + exp) * inverse)
}

// steepest is a |u| above which 1/cosh^2 u is as good as 0.
const steepest = 340

const (
	roundingShift = 3 << 51 // a number added to it is rounded to an integer, in the lowest bits
	exponentBias  = 1023
	inverseLn2    = 1 / math.Ln2
	upperLn2      = 6.93147180369123816490e-01 // ends in zeros, so that its product with k is exact
	lowerLn2      = 1.90821492927058770002e-10
)

// The series (exp(r) - 1 - r)/r^2 = 1/2! + r/3! + ... The terms that are left out are below 2e-17 of exp(r) - 1.
const (
	exp2  = 1.0 / 2
	exp3  = exp2 / 3
	exp4  = exp3 / 4
	exp5  = exp4 / 5
	exp6  = exp5 / 6
	exp7  = exp6 / 7
	exp8  = exp7 / 8
	exp9  = exp8 / 9
	exp10 = exp9 / 10
	exp11 = exp10 / 11
	exp12 = exp11 / 12
	exp13 = exp12 / 13
)
