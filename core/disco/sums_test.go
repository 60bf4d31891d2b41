package disco

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A sum keeps what rounding takes from each addition.
func TestSumsKeepTheirRoundingErrors(t *testing.T) {
	var of sum
	for _, x := range []float64{1e16, 1, -1e16, 1e-3} {
		of.add(x)
	}
	require.Equal(t, 1.001, of.value())

	rng := rand.New(rand.NewPCG(1, 2))
	exact := new(big.Float).SetPrec(2000)
	a, b := make([]float64, 100_000), make([]float64, 100_000)
	for k := range a {
		a[k], b[k] = 1e8*rng.NormFloat64(), rng.NormFloat64()
		exact.Add(exact, new(big.Float).SetFloat64(a[k]*b[k]))
	}
	want, _ := exact.Float64()
	require.InEpsilon(t, want, total(a, b), 1e-15)
}
