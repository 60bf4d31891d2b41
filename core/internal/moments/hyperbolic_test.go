package moments

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// tanh u and 1/cosh u to a few units in the last place.
func TestTanhSech(t *testing.T) {
	for u := 1e-9; u < 20; u *= 1.07 {
		for _, sign := range []float64{1, -1} {
			tanh, sech := tanhSech(sign * u)
			assert.InEpsilon(t, sign*math.Tanh(u), tanh, 5e-16, "u = %v", u)
			assert.InEpsilon(t, 1/math.Cosh(u)/math.Cosh(u), sech*sech, 2e-15, "u = %v", u)
		}
	}
	tanh, slope := tanhSech(0)
	assert.Equal(t, []float64{0, 1}, []float64{tanh, slope})
	assert.False(t, math.Signbit(tanh))
}
