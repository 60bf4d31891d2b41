package core

import (
	"math"
	"math/rand/v2"
	"testing"
)

// BenchmarkCliffs has events that could cost much more than others: each is to be read
// beside "uniform".
func BenchmarkCliffs(b *testing.B) {
	const n = 1_000_000
	rng := rand.New(rand.NewPCG(1, 1))
	falling := func() float64 { return 50 + 60*rng.ExpFloat64() }
	outliers := func(part, at float64) func() float64 {
		return func() float64 {
			if rng.Float64() < part {
				return at
			}
			return falling()
		}
	}
	ev := Events[float32]{Score: make([]float32, n), Mass: make([]float32, n)}
	grad := make([]float32, n)
	for _, c := range []struct {
		name         string
		score, mass  func() float64
		bins, labels int
	}{
		{"uniform", rng.Float64, rng.Float64, 32, 0},
		{"masses, 1 % at 1e9", rng.Float64, outliers(0.01, 1e9), 32, 0},
		{"masses, 60 % at 1e9", rng.Float64, outliers(0.6, 1e9), 32, 0},
		{"masses, 1 % at -999", rng.Float64, outliers(0.01, -999), 32, 0},
		{"masses in two clusters", rng.Float64, func() float64 { return float64(rng.IntN(2))*1e6 + rng.Float64() }, 32, 0},
		{"masses over 35 decades", rng.Float64, func() float64 { return math.Exp(80*rng.Float64() - 40) }, 32, 0},
		{"40,000 bins", rng.Float64, falling, 40_000, 0},
		{"2,000 labels", rng.Float64, falling, 32, 2_000},
		{"scores in 0.001", func() float64 { return 0.5 + 0.001*rng.Float64() }, falling, 32, 0},
		{"half of the scores 0", func() float64 { return max(0, rng.Float64()-0.5) }, falling, 32, 0},
		{"scores equal", func() float64 { return 0.5 }, falling, 32, 0},
	} {
		for i := range n {
			ev.Score[i], ev.Mass[i] = float32(c.score()), float32(c.mass())
		}
		cfg := paperConfig()
		cfg.Bins, ev.Label = c.bins, nil
		if c.labels > 0 {
			labels := make([]int32, n)
			for i := range labels {
				labels[i] = int32(rng.IntN(c.labels))
			}
			ev.Label, cfg.BackgroundLabel = LabelsOf(labels), nil
			for label := range c.labels {
				cfg.BackgroundLabel = append(cfg.BackgroundLabel, int32(label))
			}
		}
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := LossAndGrad(grad, ev, cfg); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
