package core

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Bins that were merged for want of events are bins like others: with their edges given, loss and gradient are the same.
func TestMergedBinsAreBins(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"quantile, weights":                    func(c *Config) {},
		"quantile, weights, order 2 monotonic": func(c *Config) { c.Order, c.Monotonic = 2, true },
		"quantile, weights, order 5":           func(c *Config) { c.Order = 5 },
		"uniform":                              func(c *Config) { c.Binning = Uniform },
	} {
		rng := rand.New(rand.NewPCG(41, 42))
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
		assert.InEpsilon(t, wanted, loss, 1e-11, name) // sums are added in another order, and a fit of order 5 amplifies their rounding
		assert.InDeltaSlice(t, want, grad, 1e-9, name)
	}
}

// Few events make one bin more than a response of the order, or of the splines, has free numbers; events that cannot are an error.
func TestFewestBins(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 44))
	few := func(n int) (ev Events[float64]) {
		for range n {
			ev.Score = append(ev.Score, rng.Float64())
			ev.Mass = append(ev.Mass, rng.Float64())
		}
		return ev
	}
	check := func(cfg Config, free int) {
		edges, err := Edges(few(8*(free+1)-1), cfg)
		require.NoError(t, err)
		require.Len(t, edges, free+2)
		_, err = Loss(few(free), cfg)
		require.ErrorIs(t, err, ErrNoEvents)
		require.ErrorContains(t, err, fmt.Sprintf("%d selected events cannot fill the %d bins", free, free+1))
		weighted := few(4 * free) // less than four for a bin: some are merged
		for range weighted.Score {
			weighted.Weight = append(weighted.Weight, 0.9+0.2*rng.Float64())
		}
		_, err = Loss(weighted, cfg)
		require.ErrorIs(t, err, ErrNoEvents)
		require.ErrorContains(t, err, fmt.Sprintf("needs more than %d: use", free))
	}
	cfg := DefaultConfig(MoDe)
	for order := 1; order < 7; order++ {
		cfg.Order = order
		check(cfg, order+1)
	}
	cfg = DefaultConfig(MoDe)
	cfg.Basis, cfg.Knots = BSpline, []float64{0.3, 0.6}
	check(cfg, len(cfg.Knots)+1+3)
}

// binsFor returns the number of bins before any are merged.
func binsFor(cfg *Config, n int) int {
	p, err := planFor[float64](*cfg, 1)
	if err != nil {
		panic(err)
	}
	return p.Variables[0].Options.For(n)
}
