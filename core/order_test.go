package core

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Keys keep the order of scores, give them back, and do not tell 0 from -0.
func TestScoreKey(t *testing.T) {
	scores := []float64{
		-math.MaxFloat64, -1.5, -1, -math.SmallestNonzeroFloat64, 0,
		math.SmallestNonzeroFloat64, 1e-300, 0.5, math.Nextafter(0.5, 1), 1, math.MaxFloat64,
	}
	for i, s := range scores {
		assert.Equal(t, s, scoreOf(scoreKey(s)))
		if i > 0 {
			assert.Greater(t, scoreKey(s), scoreKey(scores[i-1]), "%v", s)
		}
	}
	assert.Equal(t, scoreKey(0), scoreKey(math.Copysign(0, -1)))
}

// scoreSets are distributions that a sort by leading bits may find hard.
func scoreSets(n int) map[string][]float64 {
	rng := rand.New(rand.NewPCG(5, 6))
	draw := func(f func() float64) []float64 {
		s := make([]float64, n)
		for i := range s {
			s[i] = f()
		}
		return s
	}
	outlier := draw(func() float64 { return 0.5 + 1e-14*rng.Float64() })
	outlier[n/2] = -1e300
	return map[string][]float64{
		"uniform":         draw(rng.Float64),
		"float32":         draw(func() float64 { return float64(rng.Float32()) }),
		"one value":       draw(func() float64 { return 0.25 }),
		"two values":      draw(func() float64 { return float64(rng.IntN(2)) }),
		"few values":      draw(func() float64 { return float64(rng.IntN(20)) / 20 }),
		"both signs":      draw(rng.NormFloat64),
		"many magnitudes": draw(func() float64 { return math.Exp(40 * rng.NormFloat64()) }),
		"one far away":    outlier,
		"near 1":          draw(func() float64 { return 1 - math.Exp(-15*rng.Float64()) }),
		"zeros among":     draw(func() float64 { return math.Max(0, rng.NormFloat64()) }),
	}
}

// The records come out in order of score, ties in order of index.
func TestSort(t *testing.T) {
	cfg := paperConfig()
	cfg.ScoreRange = unbounded()
	for _, n := range []int{1, 2, 23, 24, 1_000, 100_000} {
		for name, scores := range scoreSets(n) {
			masses := make([]float64, n)
			for i := range masses {
				masses[i] = float64(i)
			}
			sw := sortedSweep(t, Events[float64]{Score: scores, Mass: masses}, cfg)
			require.Len(t, sw.records, n)
			want := make([]int, n)
			for i := range want {
				want[i] = i
			}
			slices.SortStableFunc(want, func(a, b int) int {
				if scores[a] < scores[b] {
					return -1
				}
				if scores[a] > scores[b] {
					return 1
				}
				return 0
			})
			got := make([]int, n)
			for i, r := range sw.records {
				got[i] = sw.index(r)
				require.Equal(t, scores[got[i]], sw.scoreAt(i))
			}
			require.Equal(t, want, got, "%s, n = %d", name, n)
		}
	}
}

// sortedSweep does what LossAndGrad does up to the sweep.
func sortedSweep(t *testing.T, ev Events[float64], cfg Config) *sweep[float64] {
	sc := takeScratch()
	sel := newSelection(ev, nil, &cfg)
	sel.massLo, sel.massHi = -1, float64(len(ev.Score))
	sel.makeCells(&cfg)
	require.NoError(t, sel.check(sc))
	edges := []float64{-1, float64(len(ev.Score)) / 3, float64(len(ev.Score))}
	bn := newTable(2, sel.massCells.cells, edges)
	setCells(bn, sel.massCells)
	sw := &sweep[float64]{
		layout: newLayout[float64](&sel.stats, len(ev.Score), 2), input: &sel.Events, config: &cfg, nb: 2, unit: 1,
	}
	cells := fillRecords(sel, bn, &sw.layout, sc)
	sw.records = sc.records
	sw.divide(cells)
	sw.sortGroups(cells, sc)
	return sw
}

// The gradient of many events is the one of few, written another way.
func TestUnsort(t *testing.T) {
	defer func(from int) { unsortFrom = from }(unsortFrom)
	for _, weighted := range []bool{false, true} {
		for name, change := range walkOptions {
			cfg := paperConfig()
			change(&cfg)
			ev := spreadEvents[float32](300_000, weighted, 0.1)
			ev.Mass[7] = 40 // outside the range: its gradient stays 0
			cfg.MassRange = [2]float64{50, 1000}
			var grads [][]float32
			for _, unsortFrom = range []int{1 << 30, 1000} {
				grad := make([]float32, len(ev.Score))
				_, err := LossAndGrad(grad, ev, cfg)
				require.NoError(t, err, name)
				grads = append(grads, grad)
			}
			require.Equal(t, grads[0], grads[1], name)
		}
	}
}

// With one bin and more than 2^31 events the index alone fills the lower half of a
// record, from which no bin can be shifted out.
func TestHalfRecordsHaveRoomForTheBin(t *testing.T) {
	for _, c := range []struct {
		events, bins int
		half         bool
	}{{1 << 31, 1, true}, {1<<31 + 1, 1, false}, {math.MaxUint32, 1, false}, {1 << 27, 32, true}, {1<<27 + 1, 32, false}} {
		la := newLayout[float32](&stats{scoreMin: 0, scoreMax: 1}, c.events, c.bins)
		assert.Equal(t, c.half, la.half, "%d events, %d bins", c.events, c.bins)
	}
}
