package moments

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Legendre polynomials in closed form.
func TestLegendre(t *testing.T) {
	p := make([]float64, 5)
	for _, x := range []float64{-1, -0.3, 0, 0.7, 1} {
		legendre(p, x)
		x2 := x * x
		want := []float64{1, x, (3*x2 - 1) / 2, (5*x2 - 3) * x / 2, (35*x2*x2 - 30*x2 + 3) / 8}
		assert.InDeltaSlice(t, want, p, 1e-15)
	}
}

// B-splines add up to 1, and none is negative.
func TestSplines(t *testing.T) {
	sp := newSpline(-1, 3, []float64{0, 0.5, 2}, 3)
	for _, x := range []float64{-1, -0.3, 0, 0.2, 0.5, 1.9, 2, 3} {
		var values [MaxSplineDegree + 1]float64
		first := sp.at(&values, x)
		sum := 0.0
		for _, v := range values[:4] {
			assert.GreaterOrEqual(t, v, -1e-15)
			sum += v
		}
		assert.InDelta(t, 1, sum, 1e-14)
		assert.LessOrEqual(t, first+4, sp.count())
	}
}
