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

// The sums over pairs are those of the definition, where most of each sum cancels.
func TestSumsOverPairs(t *testing.T) {
	const n = 300
	rng := rand.New(rand.NewPCG(3, 4))
	z, w, f := make([]float64, n), make([]float64, n), make([]float64, n)
	at := 1e9
	for k := range n {
		at += float64(rng.IntN(3)) * 0x1p-10 // ties
		z[k], w[k], f[k] = at, rng.NormFloat64(), rng.NormFloat64()
	}
	rows, signed := make([]float64, n), make([]float64, n)
	rowSums(rows, z, w)
	signedSums(signed, z, w, f)
	for k := range n {
		var row, ofSigns float64
		for j := range n {
			distance := z[k] - z[j]
			if distance < 0 {
				row -= w[j] * distance
				ofSigns -= f[k]*w[j] + w[k]*f[j]
			} else if distance > 0 {
				row += w[j] * distance
				ofSigns += f[k]*w[j] + w[k]*f[j]
			}
		}
		require.InDelta(t, row, rows[k], 1e-5)
		require.InDelta(t, ofSigns, signed[k], 1e-10)
	}
}
