package moments

import (
	"math"

	"github.com/libmode/libmode/core/internal/lanes"
)

// Bound makes c~ out of c:
//
//	max_slope  c~_1 = t tanh(c_1/t),      t = max_slope |c_0|  (Rejected)
//	                                      t = max_slope |1-c_0| (Selected)
//	monotonic  c~_l = t_l tanh(c_l/t_l),  t_l = |c~_1| / ((order-1) l(l+1)/2), l >= 2
//
// At order 2 the latter is the c_1/3 tanh(3 c_2/c_1) of arXiv:2010.09745. The response is monotonic at any order, because
// |P_l'| <= l(l+1)/2 on [-1, 1].
type Bound struct {
	Size      int  // number of moments
	Limited   bool // by max_slope
	Monotonic bool
	Limits    [MaxOrder + 1]lanes.Limit // of moment 1 relative to moment 0, and of the others relative to the bounded moment 1
}

// extremeSlope is the max_slope above which nothing is bounded. Below 1/extremeSlope the bounded moments are 0. Bounds in between
// are in the range of double precision.
const extremeSlope = 1e100

// NewBound returns the bounds that the options ask for.
func NewBound(o *Options, ba *Basis) *Bound {
	bo := &Bound{Size: ba.Size, Limited: !math.IsInf(o.MaxSlope, 1), Monotonic: o.Monotonic}
	slope := max(1/extremeSlope, min(o.MaxSlope, extremeSlope))
	bo.Limits[1] = lanes.Limit{Factor: slope, BaseFloor: roundingFloor, Floor: ba.SlopeFloor}
	if o.Selected {
		bo.Limits[1].Offset = 1
	}
	for l := 2; l < bo.Size; l++ {
		bo.Limits[l] = lanes.Limit{Factor: 2 / float64((bo.Size-2)*l*(l+1)), Floor: -1}
		if !bo.Limited {
			bo.Limits[l].BaseFloor = ba.SlopeFloor
		}
	}
	return bo
}

// Apply returns the bounded moments of c.
func (bo *Bound) Apply(c []float64) []float64 {
	value := append([]float64(nil), c...)
	if math.Abs(c[1]) <= bo.Limits[1].Floor {
		value[1] = 0
	}
	if bo.Limited {
		value[1], _, _ = bo.Limits[1].At(value[1], c[0])
	}
	for l := 2; l < bo.Size && bo.Monotonic; l++ {
		value[l], _, _ = bo.Limits[l].At(c[l], value[1])
	}
	return value
}
