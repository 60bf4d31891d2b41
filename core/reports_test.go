package core

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// batch returns n events of one mass. The score depends on the mass.
func batch(rng *rand.Rand, n int) Events[float64] {
	ev := Events[float64]{Score: make([]float64, n), Mass: make([]float64, n)}
	for i := range n {
		m := rng.ExpFloat64()
		ev.Mass[i], ev.Score[i] = 50*m, 1/(1+math.Exp(-rng.NormFloat64()-m+1))
	}
	return ev
}

// forThreads calls f with different numbers of threads, and several times, as goroutines do not always take turns alike.
func forThreads(f func(threads int)) {
	defer SetThreads(0)
	for _, threads := range []int{1, 2, 8} {
		SetThreads(threads)
		for range 10 {
			f(threads)
		}
	}
}

// Categories after the first that has no loss cost nothing.
func TestCategoriesOfOneEventAreFoundOutEarly(t *testing.T) {
	const n = 50_000
	ev := batch(rand.New(rand.NewPCG(75, 76)), n)
	each := make([]int64, n)
	for i := range each {
		each[i] = int64(i)
	}
	ev.Category = LabelsOf(each)
	forThreads(func(threads int) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Loss(ev, DefaultConfig())
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, "events of category = 0: mass: all 1 selected events have the same mass")
		require.Less(t, after.Mallocs-before.Mallocs, uint64(n/10))
	})
}

// A bin of one event has no bias: an error. With Biased there is a loss, with the bias NaN.
func TestEvaluateBinsOfOneEvent(t *testing.T) {
	ev, cfg := batch(rand.New(rand.NewPCG(79, 80)), 3), paperConfig()
	cfg.Bins = 3
	loss, err := Loss(ev, cfg)
	require.NoError(t, err)
	found, err := Evaluate(nil, ev, cfg)
	require.NoError(t, err)
	require.Equal(t, loss, found.Loss)
	require.True(t, math.IsNaN(found.Bias))
	require.Equal(t, 3., found.Events)
	cfg.Biased = false
	_, err = Evaluate(nil, ev, cfg)
	require.ErrorContains(t, err, "1 effective events, and unbiased needs at least 1.05")
}

// The gradient depends on the order of the scores alone. One far score leaves no room for the last digits of the others in the keys by
// which they are sorted.
func TestScoresThatDifferInTheirLastDigits(t *testing.T) {
	const n = 2000
	rng, cfg := rand.New(rand.NewPCG(85, 86)), DefaultConfig()
	cfg.ScoreRange, cfg.Biased = unbounded(), true
	near, apart := batch(rng, n), Events[float64]{}
	apart.Mass = near.Mass
	for _, k := range rng.Perm(n) {
		near.Score[len(apart.Score)] = 0.5 + float64(k)*0x1p-53
		apart.Score = append(apart.Score, float64(k))
	}
	for i, s := range apart.Score {
		if s == 0 {
			near.Score[i] = -1e300
		}
	}
	want, got := make([]float64, n), make([]float64, n)
	_, err := LossAndGrad(want, apart, cfg)
	require.NoError(t, err)
	_, err = LossAndGrad(got, near, cfg)
	require.NoError(t, err)
	require.InDeltaSlice(t, want, got, 1e-12)
}
