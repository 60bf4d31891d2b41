package core

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// matrix returns M of the plain brute force by its definition: J of two bins' CDFs, polarized.
func (br *brute) matrix() [][]float64 {
	j := func(ones ...int) float64 {
		f := make([]float64, br.nb)
		for _, b := range ones {
			f[b]++
		}
		return br.value(f, nil, [2][]float64{})
	}
	m := make([][]float64, br.nb)
	for a := range m {
		m[a] = make([]float64, br.nb)
		for b := range m[a] {
			m[a][b] = (j(a, b) - j(a) - j(b)) / 2
		}
	}
	return m
}

// Scores of few values far from each other, as those of a first tree: each tie is spread over a window of its own.
func TestHessOfFewScores(t *testing.T) {
	const n, smoothing = 4_000, 0.05
	values, windows := []float64{0, 0.3, 0.5, 0.97, 1}, []float64{0.025, 0.05, 0.05, 0.05, 0.025}
	rng := rand.New(rand.NewPCG(32, 1))
	ev, of := Events[float64]{Score: make([]float64, n), Mass: make([]float64, n)}, make([]int, n)
	for i := range n {
		of[i] = min(rng.IntN(12), 4) // the last has most of the events
		ev.Score[i], ev.Mass[i] = values[of[i]], rng.Float64()
	}
	ev.Score[0], of[0] = 0.2, -1 // one by itself, which the strip of a tie must not bring near it
	for order := range 3 {
		cfg := DefaultConfig()
		cfg.Order, cfg.Bins = order, 5
		hess := make([]float64, n)
		_, err := Curvature(nil, hess, smoothing, ev, cfg)
		require.NoError(t, err)
		cfg.Biased = true
		br := newBrute(t, ev, cfg)
		m := br.matrix()
		counts := make([][5]float64, br.nb)
		for i, k := range of {
			if k >= 0 {
				counts[br.bin[i]][k]++
			}
		}
		for i, k := range of {
			if k < 0 {
				continue
			}
			var want float64
			for b := range counts {
				want += max(0, -m[br.bin[i]][b]) * counts[b][k] / br.sums[b]
			}
			want *= 4 / float64(br.nb) / br.sums[br.bin[i]] / windows[k]
			require.InEpsilon(t, want, hess[i], 1e-11, "order %d, score %v", order, ev.Score[i])
		}
	}
}

// Without a range of scores, equal scores do not say what is near: there is no bound.
func TestHessOfEqualScores(t *testing.T) {
	ev, cfg, hess := spreadEvents[float64](100, false, 0), DefaultConfig(), make([]float64, 100)
	for i := range ev.Score {
		ev.Score[i] = 0.25
	}
	cfg.ScoreRange = unbounded()
	_, err := Curvature(nil, hess, 0, ev, cfg)
	require.NoError(t, err)
	require.Equal(t, make([]float64, 100), hess)
}
