package core

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// walkOptions are option sets that take every way through the walk.
var walkOptions = map[string]func(*Config){
	"order 0":             func(c *Config) {},
	"order 1":             func(c *Config) { c.Order = 1; c.SlopePenalty = 0.3 },
	"order 2":             func(c *Config) { c.Order = 2 },
	"order 5":             func(c *Config) { c.Order = 5 },
	"projection":          func(c *Config) { c.Order = 2; c.Quadrature = false },
	"unbiased":            func(c *Config) { c.Order = 2; c.Biased = false },
	"default":             func(c *Config) { *c = DefaultConfig() },
	"default order 1":     func(c *Config) { *c = DefaultConfig(); c.Order = 1; c.SlopePenalty = 0.2 },
	"max slope":           func(c *Config) { c.Order = 1; c.MaxSlope = 0.1 },
	"monotonic":           func(c *Config) { c.Order = 3; c.Monotonic = true },
	"all bounds":          func(c *Config) { c.Order = 2; c.MaxSlope = 0.2; c.OfSelected = true; c.Monotonic = true },
	"all bounds unbiased": func(c *Config) { c.Order = 2; c.MaxSlope = 0.2; c.Monotonic = true; c.Biased = false },
	"monotonic order 2":   func(c *Config) { c.Order = 2; c.Monotonic = true; c.SlopePenalty = 0.3 },
	"monotonic unbiased":  func(c *Config) { c.Order = 2; c.Monotonic = true; c.Biased = false; c.Quadrature = false },
	"max slope unbiased":  func(c *Config) { c.Order = 2; c.MaxSlope = 0.3; c.Biased = false; c.OfSelected = true },
	"no score range":      func(c *Config) { c.Order = 2; c.ScoreRange = unbounded() },
}

// spreadEvents draws n events whose scores depend on mass; a part share scores.
func spreadEvents[T Float](n int, weighted bool, tied float64) Events[T] {
	rng := rand.New(rand.NewPCG(11, uint64(n)))
	ev := Events[T]{Score: make([]T, n), Mass: make([]T, n)}
	if weighted {
		ev.Weight = make([]T, n)
	}
	for i := range n {
		m := rng.ExpFloat64()
		s := 1 / (1 + math.Exp(rng.NormFloat64()-m))
		if rng.Float64() < tied {
			s = math.Round(s*100) / 100
		}
		ev.Score[i], ev.Mass[i] = T(s), T(50+60*m)
		if weighted {
			ev.Weight[i] = T(rng.NormFloat64() + 1)
		}
	}
	return ev
}

// Many chunks of events, ties of whole chunks among them, have the loss and the gradient of the definition.
func TestChunks(t *testing.T) {
	for name, change := range walkOptions {
		for k := range 4 {
			weighted, oneLargeTie := k%2 == 1, k >= 2
			t.Run(fmt.Sprint(name, " ", weighted, " ", oneLargeTie), func(t *testing.T) {
				cfg := paperConfig()
				cfg.Bins = 12
				change(&cfg)
				ev := spreadEvents[float64](9_000, weighted, 0.1)
				if oneLargeTie {
					for i := range 5_000 {
						ev.Score[i] = 0.5
					}
				}
				requireDefinition(t, ev, cfg, 1e-10, "")
			})
		}
	}
}

// Weights that are all the same are no weights, whatever they are, also where events that
// take no part have others.
func TestEqualWeights(t *testing.T) {
	for name, change := range walkOptions {
		cfg := paperConfig()
		change(&cfg)
		cfg.MassRange = [2]float64{50, 200}
		ev := spreadEvents[float64](20_000, false, 0.1)
		want, got := make([]float64, len(ev.Score)), make([]float64, len(ev.Score))
		without, err := LossAndGrad(want, ev, cfg)
		require.NoError(t, err)
		ev.Weight = make([]float64, len(ev.Score))
		for i, m := range ev.Mass {
			ev.Weight[i] = 1e-200
			if m > 200 {
				ev.Weight[i] = -3
			}
		}
		with, err := LossAndGrad(got, ev, cfg)
		require.NoError(t, err)
		assert.Equal(t, without, with, name)
		assert.Equal(t, want, got, name)
		ev.Weight[0] *= 2
		with, err = LossAndGrad(got, ev, cfg)
		require.NoError(t, err)
		assert.NotEqual(t, without, with, name)
	}
}

// What the arrays for derivatives hold before does not matter: events outside get 0.
func TestDerivativesAreCleared(t *testing.T) {
	for _, n := range []int{100, clearBlock - 1, clearBlock, clearBlock + 1, 3*clearBlock + 7} {
		ev, cfg := spreadEvents[float32](n, false, 0.1), DefaultConfig()
		cfg.MassRange = [2]float64{50, 110}
		grad, hess := make([]float32, n), make([]float32, n)
		for i := range n {
			grad[i], hess[i] = float32(math.NaN()), float32(math.NaN())
		}
		_, err := Curvature(grad, hess, 0, ev, cfg)
		require.NoError(t, err)
		for i, m := range ev.Mass {
			if outside := m > 110; outside && (grad[i] != 0 || hess[i] != 0) || grad[i] != grad[i] || hess[i] != hess[i] {
				require.Failf(t, "not cleared", "event %d of %d: %v, %v", i, n, grad[i], hess[i])
			}
		}
	}
}

const clearBlock = 1 << 16

// Nothing is allocated per event: a call after the first takes less than half of
// the smallest array of events in new memory, in few pieces.
func TestAllocations(t *testing.T) {
	const n = 200_000
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the memory of calls stays
	for name, change := range walkOptions {
		cfg := paperConfig()
		change(&cfg)
		ev := spreadEvents[float32](n, true, 0.1)
		grad := make([]float32, n)
		// The least of several calls: a goroutine that changes its processor does not
		// find what it has put into a sync.Pool.
		bytes, mallocs := uint64(math.MaxUint64), uint64(math.MaxUint64)
		for range 20 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := LossAndGrad(grad, ev, cfg)
			runtime.ReadMemStats(&after)
			require.NoError(t, err, name)
			bytes = min(bytes, after.TotalAlloc-before.TotalAlloc)
			mallocs = min(mallocs, after.Mallocs-before.Mallocs)
		}
		require.Less(t, bytes, uint64(2*n), name)
		require.Less(t, mallocs, uint64(2_000), name)
	}
}
