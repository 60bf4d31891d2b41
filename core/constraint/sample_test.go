package constraint

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The number of different events is the number of an epoch, and before its end the number so far.
func TestSampleOfEpochs(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const events, batch = 20_000, 500
	masses := make([]float32, events)
	for i := range masses {
		masses[i] = float32(50 + 80*rng.ExpFloat64())
	}
	sa := make(sample, marks+tracked)
	for epoch := 1.0; epoch <= 5; epoch++ {
		rng.Shuffle(events, func(i, k int) { masses[i], masses[k] = masses[k], masses[i] })
		for lo := 0; lo < events; lo += batch {
			see(sa, masses[lo:lo+batch])
			if epoch == 1 {
				require.Equal(t, float64(lo+batch), sa.size())
			}
		}
		require.Equal(t, float64(events), sa.size(), epoch)
	}
}

// Masses that different events share tell nothing: then the sample counts as infinite. Masses that are not known do not count, and
// a batch of few events has fewer masses to know again.
func TestSampleOfTies(t *testing.T) {
	sa := make(sample, marks+tracked)
	ties := make([]float64, 1000)
	for i := range ties {
		ties[i] = float64(i % 100)
	}
	see(sa, ties)
	require.True(t, math.IsInf(sa.size(), 1))
	see(sa, ties)
	require.True(t, math.IsInf(sa.size(), 1))

	sa = make(sample, marks+tracked)
	few := []float64{3, 1, math.NaN(), 2}
	see(sa, few)
	require.Equal(t, 3., sa.size())
	see(sa, few)
	require.Equal(t, 3., sa.size())

	sa = make(sample, marks+tracked)
	see(sa, []float64{math.NaN()})
	require.True(t, math.IsInf(sa.size(), 1))
	see(sa, few)
	require.Equal(t, 3., sa.size())
}

// Each mass twice among different events is a tie; a few pairs among many masses are none.
func TestSampleOfPairs(t *testing.T) {
	for pairs, ties := range map[int]bool{100: false, 500: true} {
		sa, masses := make(sample, marks+tracked), make([]float64, 1000)
		for i := range masses {
			masses[i] = float64(i)
			if i >= 1000-pairs {
				masses[i] = float64((i - 1000 + pairs) * (1000 - pairs) / pairs)
			}
		}
		see(sa, masses)
		require.Equal(t, ties, math.IsInf(sa.size(), 1), "%d pairs: %v", pairs, sa[sightings])
	}
}
