package moments

import "math"

// Bound makes c~ out of c:
//
//	max_slope  c~_1 = t tanh(c_1/t),      t = max_slope |c_0|  (Rejected)
//	                                      t = max_slope |1-c_0| (Selected)
//	monotonic  c~_l = t_l tanh(c_l/t_l),  t_l = |c~_1| / ((order-1) l(l+1)/2), l >= 2
//
// At order 2 the latter is the c_1/3 tanh(3 c_2/c_1) of arXiv:2010.09745. The response is monotonic at any order, because
// |P_l'| <= l(l+1)/2 on [-1, 1].
type Bound struct {
	First, End int // the moments First..End-1 are bounded
	// Limits has the limit of moment 1 relative to moment 0, and of each other one relative to c~_1.
	Limits [MaxOrder + 1]Limit
}

// Limit bounds a moment c by t = factor (base - offset): c~ = t tanh(c/t). If |base - offset| <= baseFloor, t counts as 0. If
// |c| <= floor, c counts as 0.
type Limit struct{ factor, offset, baseFloor, floor float64 }

// extremeSlope is the max_slope above which nothing is bounded. Below 1/extremeSlope the bounded moments are 0. Bounds in between
// are in the range of double precision.
const extremeSlope = 1e100

// NewBound returns the bounds that the options ask for.
func NewBound(c *Options, ba *Basis) *Bound {
	bo := &Bound{First: 2, End: 2}
	slope := max(1/extremeSlope, min(c.MaxSlope, extremeSlope))
	bo.Limits[1] = Limit{factor: slope, baseFloor: roundingFloor, floor: ba.SlopeFloor}
	if c.OfSelected {
		bo.Limits[1].offset = 1
	}
	if !math.IsInf(c.MaxSlope, 1) {
		bo.First = 1
	}
	if c.Monotonic {
		bo.End = ba.Size
	}
	for l := 2; l < bo.End; l++ {
		bo.Limits[l] = Limit{factor: 2 / float64((ba.Size-2)*l*(l+1)), floor: -1}
		if bo.First == 2 {
			bo.Limits[l].baseFloor = ba.SlopeFloor
		}
	}
	return bo
}

// Apply returns the bounded moments of c.
func (bo *Bound) Apply(c []float64) []float64 {
	bounded := append([]float64(nil), c...)
	if math.Abs(c[1]) <= bo.Limits[1].floor {
		bounded[1] = 0
	}
	for l := bo.First; l < bo.End; l++ {
		bounded[l], _, _ = bo.Limits[l].At(bounded[l], bounded[min(l-1, 1)])
	}
	return bounded
}

// steepest is a |c/t| above which c~ is as good as t.
const steepest = 40

// At returns c~, 1 - dc~/dc and dc~/dbase.
func (limit *Limit) At(c, base float64) (bounded, own, byBase float64) {
	t := base - limit.offset
	if !(math.Abs(t) > limit.baseFloor) {
		return 0, 1, 0
	}
	t = float64(limit.factor * t)
	u := 0.0
	if math.Abs(c) > limit.floor {
		if u = c / t; u > steepest {
			u = steepest
		} else if u < -steepest {
			u = -steepest
		}
	}
	y := tanh(u)
	square := float64(y * y)
	return float64(t * y), square, float64(limit.factor * (y - float64(u*(1-square))))
}

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
