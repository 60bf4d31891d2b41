package core

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Bins that were merged for want of events are bins like others: with their edges given, loss and gradient are the same.
func TestMergedBinsAreBins(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	for name, change := range map[string]func(*Config){
		"quantile, weights":                    func(c *Config) {},
		"quantile, weights, order 2 monotonic": func(c *Config) { c.Order, c.Monotonic = 2, true },
		"quantile, weights, order 5":           func(c *Config) { c.Order = 5 },
		"uniform":                              func(c *Config) { c.Binning = Uniform },
	} {
		ev := Events[float64]{}
		for range 2000 {
			ev.Score = append(ev.Score, rng.Float64())
			ev.Mass = append(ev.Mass, 50+20*rng.ExpFloat64())
			ev.Weight = append(ev.Weight, math.Pow(rng.Float64(), -1.2)) // in some bins few events have nearly all of it
		}
		cfg := DefaultConfig(MoDe)
		cfg.Order = 1
		change(&cfg)
		if cfg.Binning == Uniform {
			ev.Weight = nil
		}
		edges, err := Edges(ev, cfg)
		require.NoError(t, err, name)
		require.Less(t, len(edges)-1, binsFor(&cfg, len(ev.Mass)), "%s: no bin was merged", name)
		given := cfg
		given.Binning, given.Edges = GivenEdges, edges
		grad, want := make([]float64, len(ev.Score)), make([]float64, len(ev.Score))
		loss, err := LossAndGrad(grad, ev, cfg)
		require.NoError(t, err, name)
		wanted, err := LossAndGrad(want, ev, given)
		require.NoError(t, err, name)
		assert.InEpsilon(t, wanted, loss, 1e-12, name)
		assert.InDeltaSlice(t, want, grad, 1e-9, name)
	}
}
