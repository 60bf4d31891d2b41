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
	ev.Score[0], of[0] = 0.2, -1 // one by itself, which no strip brings near a tie
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

// windowed returns h by its definition at a score: of events of weight 1, with densities that are means over the window around it.
func windowed(br *brute, m [][]float64, score []float64, bin int, middle, smoothing float64) float64 {
	lo, hi := max(0, middle-smoothing/2), min(1, middle+smoothing/2)
	var found float64
	for j, a := range br.bin {
		if score[j] >= lo && score[j] <= hi {
			found += max(0, -m[bin][a]) / br.sums[a]
		}
	}
	return 4 / float64(br.nb) * found / br.sums[bin] / (hi - lo)
}

// Strips have an eighth of the width of the window, and at least 1/1024 of the events and as many as there are bins. Their densities are those of the event in their
// middle.
func TestHessOfStrips(t *testing.T) {
	for n, smoothing := range map[int]float64{80: 0.25, 1280: 0.25, 12_800: 1e-3} {
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
		for first, end := 0, 0; first < n; first = end {
			for end = min(n, first+max(5, n/1024)); end < n && ev.Score[end] <= ev.Score[first]+smoothing/8; end++ {
			}
			middle := ev.Score[first]
			for k := first; middle < (ev.Score[first]+ev.Score[end-1])/2; k++ {
				middle = ev.Score[k]
			}
			for i := first; i < end && first%7 == 0; i++ {
				require.InEpsilon(t, windowed(br, m, ev.Score, br.bin[i], middle, smoothing), hess[i], 1e-9, "event %d of %d", i, n)
			}
		}
		byDefault := make([]float64, n)
		_, err = Curvature(nil, byDefault, 0, ev, cfg)
		require.NoError(t, err)
		_, err = Curvature(nil, hess, 1./16, ev, cfg)
		require.NoError(t, err)
		require.Equal(t, hess, byDefault)
	}
}

// Scores of trees at a large weight of the loss crowd in few values, and few of them are far. Each value has the density of its own
// window, not of the strip that a tie just too small for one of its own shares with far scores: that was 500 times too small.
func TestHessOfCrowdedScores(t *testing.T) {
	const n, smoothing = 5_000, 1e-4
	for seed := range uint64(10) {
		ev, rng := Events[float64]{}, rand.New(rand.NewPCG(35, seed))
		for len(ev.Score) < n {
			value, count := 0.2+2e-4*rng.NormFloat64(), 1+rng.IntN(150)
			if rng.IntN(3) == 0 { // some single events far out
				value, count = 0.2+0.3*rng.Float64(), 1+rng.IntN(3)
			}
			for range count {
				ev.Score, ev.Mass = append(ev.Score, value), append(ev.Mass, rng.Float64())
			}
		}
		cfg, hess := paperConfig(), make([]float64, len(ev.Score))
		cfg.Bins = 5
		_, err := Curvature(nil, hess, smoothing, ev, cfg)
		require.NoError(t, err)
		br := newBrute(t, ev, cfg)
		m := br.matrix()
		of, exact, size := map[float64]float64{}, map[float64]float64{}, map[float64]int{}
		for i, score := range ev.Score {
			of[score] += hess[i]
			size[score]++
			exact[score] += windowed(br, m, ev.Score, br.bin[i], score, smoothing)
		}
		for score, want := range exact {
			if size[score] >= 30 {
				require.Greater(t, of[score], want/2, "the %d events of score %v", size[score], score)
				require.Less(t, of[score], want*2.5, "the %d events of score %v", size[score], score)
			}
		}
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

// The middle of a strip is one of its scores, at both ends of double precision.
func TestHessOfExtremeScores(t *testing.T) {
	for _, unit := range []float64{5e-324, 1, 3e306} {
		ev, cfg, hess := spreadEvents[float64](100, false, 0), DefaultConfig(), make([]float64, 100)
		for i := range ev.Score {
			ev.Score[i] = unit * float64(1+i/2)
		}
		cfg.ScoreRange = unbounded()
		if _, err := Curvature(nil, hess, 0, ev, cfg); err != nil {
			require.ErrorIs(t, err, ErrOverflow)
		}
	}
}
