package lanes

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
)

// tanh u and 1/cosh u to a few units in the last place, beside sums of the series of exp with 300 bits.
func TestTanhSech(t *testing.T) {
	for u := 1e-9; u < 20; u *= 1.07 {
		e := bigExp(2 * u)
		one := big.NewFloat(1).SetPrec(300)
		above, below := new(big.Float).Add(e, one), new(big.Float).Sub(e, one)
		wantTanh, _ := new(big.Float).Quo(below, above).Float64()
		four := new(big.Float).Mul(big.NewFloat(4).SetPrec(300), e)
		wantSlope, _ := four.Quo(four, above.Mul(above, above)).Float64()
		for _, sign := range []float64{1, -1} {
			tanh, sech := TanhSech(sign * u)
			assert.InEpsilon(t, sign*wantTanh, tanh, 5e-16, "u = %v", u)
			assert.InEpsilon(t, wantSlope, sech*sech, 2e-15, "u = %v", u)
		}
	}
	tanh, slope := TanhSech(0)
	assert.Equal(t, []float64{0, 1}, []float64{tanh, slope})
	assert.False(t, math.Signbit(tanh))
}

// bigExp returns exp x by its series.
func bigExp(x float64) *big.Float {
	sum, term := big.NewFloat(1).SetPrec(300), big.NewFloat(1).SetPrec(300)
	for n := 1; n < 400; n++ {
		term.Mul(term, big.NewFloat(x).SetPrec(300))
		term.Quo(term, big.NewFloat(float64(n)).SetPrec(300))
		sum.Add(sum, term)
	}
	return sum
}
