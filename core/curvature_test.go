package core

import (
	"math"
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

// Scores of few values far from each other, as those of a first tree: each tie is spread over a window of its own. Weights have
// either sign. Without a range of scores the window goes by the inner three quarters of the scores, which go from 0.3 to 1.
func TestHessOfFewScores(t *testing.T) {
	const n, smoothing = 4_000, 0.05
	values, windows := []float64{0, 0.3, 0.5, 0.97, 1}, []float64{0.025, 0.05, 0.05, 0.05, 0.025}
	rng := rand.New(rand.NewPCG(32, 1))
	ev, of := Events[float64]{Score: make([]float64, n), Mass: make([]float64, n), Weight: make([]float64, n)}, make([]int, n)
	for i := range n {
		of[i] = min(rng.IntN(12), 4) // the last has most of the events
		ev.Score[i], ev.Mass[i], ev.Weight[i] = values[of[i]], rng.Float64(), 1+rng.NormFloat64()
	}
	ev.Score[0], of[0] = 0.2, -1 // one by itself, which the strip of a tie must not bring near it
	for order := range 3 {
		for _, width := range []float64{1, 0.7} {
			cfg := DefaultConfig()
			cfg.Order, cfg.Bins = order, 5
			if width < 1 {
				cfg.ScoreRange = unbounded()
			}
			hess := make([]float64, n)
			_, err := Curvature(nil, hess, smoothing, ev, cfg)
			require.NoError(t, err)
			cfg.Biased = true
			br := newBrute(t, ev, cfg)
			m := br.matrix()
			var sizes [2][5][5]float64 // of the weights above 0 and below, by bin and score
			signOf := map[bool]int{true: 0, false: 1}
			for i, k := range of {
				if k >= 0 {
					sizes[signOf[ev.Weight[i] > 0]][br.bin[i]][k] += math.Abs(ev.Weight[i])
				}
			}
			for i, k := range of {
				if k < 0 {
					continue
				}
				var want float64
				same, other := sizes[signOf[ev.Weight[i] > 0]], sizes[signOf[ev.Weight[i] < 0]]
				for b := range br.nb {
					want += (max(0, -m[br.bin[i]][b])*same[b][k] + max(0, m[br.bin[i]][b])*other[b][k]) / br.sums[b]
				}
				want *= 4 / float64(br.nb) * math.Abs(ev.Weight[i]) / br.sums[br.bin[i]] / (width * windows[k])
				require.InEpsilon(t, want, hess[i], 1e-10, "order %d, score %v, width %v", order, ev.Score[i], width)
			}
		}
	}
}

// Densities count as even within a strip. There are 64 strips, or one for every 4 events a bin.
func TestHessOfStrips(t *testing.T) {
	const smoothing = 0.25
	for n, count := range map[int]int{80: 4, 1280: 64, 12_800: 64} {
		ev, rng := Events[float64]{}, rand.New(rand.NewPCG(33, 1))
		for i := range n {
			ev.Score, ev.Mass = append(ev.Score, (float64(i)+0.5)/float64(n)), append(ev.Mass, rng.Float64())
		}
		cfg, hess := paperConfig(), make([]float64, n)
		cfg.Bins = 5
		_, err := Curvature(nil, hess, smoothing, ev, cfg)
		require.NoError(t, err)
		br := newBrute(t, ev, cfg)
		m := br.matrix()
		sums, size := make([][5]float64, count), n/count
		for i, b := range br.bin {
			sums[i/size][b] += 1 / br.sums[b]
		}
		for i, b := range br.bin {
			first := i / size * size
			middle := (ev.Score[first] + ev.Score[first+size-1]) / 2
			lo, hi := max(0, middle-smoothing/2), min(1, middle+smoothing/2)
			var want float64
			for c := range sums {
				from, to := ev.Score[c*size], ev.Score[(c+1)*size-1]
				part := max(0, min(to, hi)-max(from, lo)) / (to - from)
				for a, sum := range sums[c] {
					want += max(0, -m[b][a]) * sum * part / (hi - lo)
				}
			}
			require.InEpsilon(t, want*4/5/br.sums[b], hess[i], 1e-9, "event %d of %d", i, n)
		}
		byDefault := make([]float64, n)
		_, err = Curvature(nil, byDefault, 0, ev, cfg)
		require.NoError(t, err)
		_, err = Curvature(nil, hess, 1./16, ev, cfg)
		require.NoError(t, err)
		require.Equal(t, hess, byDefault)
	}
}

// An event of weight k is k events: few events of large weights at high scores do not widen the strips there.
func TestHessOfRepeatedEvents(t *testing.T) {
	const n = 4_000
	rng := rand.New(rand.NewPCG(34, 1))
	var one, many Events[float64]
	var first []int // of each event's copies
	for range n {
		score, mass, copies := rng.Float64(), rng.Float64(), 1
		if score > 0.8 {
			copies = 1 + rng.IntN(20)
		}
		one.Score, one.Mass = append(one.Score, score), append(one.Mass, mass)
		one.Weight = append(one.Weight, float64(copies))
		first = append(first, len(many.Score))
		for range copies {
			many.Score, many.Mass = append(many.Score, score), append(many.Mass, mass)
		}
	}
	cfg := paperConfig()
	cfg.Binning, cfg.Edges = GivenEdges, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}
	hess, ofMany := make([]float64, n), make([]float64, len(many.Score))
	_, err := Curvature(nil, hess, 0, one, cfg)
	require.NoError(t, err)
	_, err = Curvature(nil, ofMany, 0, many, cfg)
	require.NoError(t, err)
	for i, h := range hess {
		require.InEpsilon(t, one.Weight[i]*ofMany[first[i]], h, 1e-9, "event %d", i)
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
