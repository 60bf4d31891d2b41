package moments

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTanh(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	for range 200_000 {
		x := 40 * rng.Float64() * rng.Float64() * rng.Float64()
		require.InEpsilon(t, math.Tanh(x), tanh(x), 5e-16, x)
		require.Equal(t, -tanh(x), tanh(-x))
		y := 700 * rng.Float64() * rng.Float64()
		require.InEpsilon(t, math.Exp(-y), expMinus(y), 1e-15, y)
	}
	for _, x := range []float64{0, 1e-300, 1e-9, 0.625, math.Nextafter(0.625, 0), 20, 40} {
		require.InDelta(t, math.Tanh(x), tanh(x), 2.3e-16*math.Tanh(x), x)
	}
}
