package push

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A rank is the part of all sizes of weights below, and half of the part that is equal: by all pairs.
func TestRanksOfAllPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 300
	values, weights := make([]float64, n), make([]float64, n)
	for i := range n {
		values[i], weights[i] = math.Round(20*rng.NormFloat64()), rng.NormFloat64()
		if i%17 == 0 {
			values[i] = math.NaN()
		}
	}
	found := make([]float64, n)
	ranks(found, values, weights, make([]uint64, n))
	for i, v := range values {
		if v != v {
			require.True(t, math.IsNaN(found[i]))
			continue
		}
		var below, total float64
		for j, other := range values {
			size := math.Abs(weights[j])
			switch {
			case other < v:
				below += size
			case other == v:
				below += size / 2
			}
			if other == other {
				total += size
			}
		}
		require.InDelta(t, below/total, found[i], 1e-13)
	}
}

// Ranks lie inside (0, 1), even of events of almost no weight.
func TestRanksAreInside(t *testing.T) {
	values := []float64{1, 2, 3}
	for _, weights := range [][]float64{{1e-300, 1, 1e-300}, {1, 0, 0}, {1e300, -1e-300, 1}} {
		found := make([]float64, 3)
		ranks(found, values, weights, make([]uint64, 3))
		for _, q := range found {
			require.True(t, q > 0 && q < 1, "%v: %v", weights, found)
		}
		require.True(t, slices.IsSorted(found))
	}
}

// The functions are orthonormal over the cells of one mass that have a value, and of the score.
func TestBasesAreOrthonormal(t *testing.T) {
	for _, ba := range []basis{ofScore, {32, 12, ofMasses[1].values[:32*12], nil}} {
		for k := range ba.functions {
			for l := range ba.functions {
				var overlap, want float64
				for c := range ba.cells {
					overlap += ba.values[c*ba.functions+k] * ba.values[c*ba.functions+l] / float64(ba.cells)
				}
				if k == l {
					want = 1
				}
				require.InDelta(t, want, overlap, 1e-13)
			}
		}
	}
	for variables, ba := range ofMasses {
		for c := range ba.cells {
			for k := range ba.functions {
				require.Equal(t, ba.values[c*ba.functions+k], ba.transposed[k*ba.cells+c])
			}
		}
		if variables > 0 { // the last cell has the events without any value, and the function 1 alone
			last := ba.values[(ba.cells-1)*ba.functions:]
			require.Equal(t, append([]float64{1}, make([]float64, ba.functions-1)...), last)
		}
	}
}

// The spread is the standard deviation of logits in units in which the mean slope is 1.
func TestSpreadOfLogits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 20_000
	group := Group[float64]{}
	for range n {
		group.score = append(group.score, 2+4/(1+math.Exp(-0.1*rng.NormFloat64())))
		group.weight = append(group.weight, 1)
	}
	require.InEpsilon(t, 0.1, spreadOf([]Group[float64]{group}, n, scoreRange{2, 0.25}), 0.03)
	for i := range group.score {
		group.score[i] = 2 // where the slope is 0
	}
	require.Zero(t, spreadOf([]Group[float64]{group}, n, scoreRange{2, 0.25}))
}

// A length has room for any number of masses, and is 0 where an int has none for it.
func TestStateSize(t *testing.T) {
	for labels, want := range map[int]int{-1: 0, 0: 0, 1: 7 + 324, 2: 7 + 2*324, math.MaxInt: 0, math.MaxInt/324 + 1: 0} {
		require.Equal(t, want, StateSize(labels), labels)
	}
	require.Positive(t, StateSize(math.MaxInt/324-1))
}
