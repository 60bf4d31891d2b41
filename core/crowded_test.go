package core

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// crowds are scores in large ties, from a number between 0 and 1. Package order has tests of more crowds.
var crowds = map[string]func(i int, u float64) float64{
	"equal":                func(int, float64) float64 { return 0.5 },
	"0 or 1":               func(_ int, u float64) float64 { return math.Round(u) },
	"ties of chunks":       func(_ int, u float64) float64 { return math.Round(20*u) / 20 },
	"large and small ties": func(_ int, u float64) float64 { return math.Round(30*u*u*u) / 30 },
	"half 0":               func(_ int, u float64) float64 { return max(0, u-0.5) },
}

// The loss and the gradient of crowded scores are those of the definition, and do not depend on the number of threads.
func TestLossOfCrowdedScores(t *testing.T) {
	const n = 50_000
	for name, of := range crowds {
		for kind, change := range sides {
			cfg := paperConfig()
			change(&cfg)
			cfg.Bins, cfg.ScoreRange = 4, [2]float64{0, 1}
			ev, rng := positive(spreadEvents[float64](n, kind != "quadrature", 0)), rand.New(rand.NewPCG(3, n))
			for i := range ev.Score {
				ev.Score[i] = of(i, rng.Float64())
			}
			what := fmt.Sprint(name, ", ", kind)
			checkSweep(t, ev, cfg, what)
			checkThreads(t, Events[float32]{Score: convert[float32](ev.Score), Mass: convert[float32](ev.Mass), Weight: convert[float32](ev.Weight)}, cfg, what)
		}
	}
}
