package core

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// crowds are scores of which many share a cell, from a number between 0 and 1.
var crowds = map[string]func(i int, u float64) float64{
	"spread":                  func(_ int, u float64) float64 { return u },
	"equal":                   func(int, float64) float64 { return 0.5 },
	"equal but the first":     func(i int, _ float64) float64 { return 0.5 - 0.25*float64(max(0, 1-i)) },
	"equal but a few":         func(i int, _ float64) float64 { return 0.5 + 1e-3*float64(i%40_000/39_999) },
	"0 or 1":                  func(_ int, u float64) float64 { return math.Round(u) },
	"two neighbours":          func(_ int, u float64) float64 { return 0.5 + math.Round(u)*0x1p-23 },
	"half 0":                  func(_ int, u float64) float64 { return max(0, u-0.5) },
	"half 0 or -0":            func(i int, u float64) float64 { return cmp.Or(max(0, u-0.5), math.Copysign(0, float64(i%2)-0.5)) },
	"half 0, half near it":    func(_ int, u float64) float64 { return max(0, u-0.5) * 1e-9 },
	"half the least above 0":  func(i int, u float64) float64 { return max(5e-324*float64(i%2), u-0.5) },
	"ties of chunks":          func(_ int, u float64) float64 { return math.Round(20*u) / 20 },
	"large and small ties":    func(_ int, u float64) float64 { return math.Round(30*u*u*u) / 30 },
	"saturated":               func(_ int, u float64) float64 { return 1 / (1 + math.Exp(60*(u-0.4))) },
	"a tie among decades":     func(i int, u float64) float64 { return cmp.Or(float64(i%2)*math.Exp(-200*u), 1e-30) },
	"one cell of many values": func(i int, u float64) float64 { return (0.5 + 1e-13*u) * (1 - float64(max(0, 1-i))) },
}

// crowdedEvents are events with the scores of a crowd.
func crowdedEvents[T Float](n int, of func(i int, u float64) float64) Events[T] {
	ev, rng := spreadEvents[T](n, true, 0), rand.New(rand.NewPCG(3, uint64(n)))
	for i := range ev.Score {
		ev.Score[i] = T(of(i, rng.Float64()))
	}
	return ev
}

// The loss and the gradient of crowded scores are those of the definition, of float64 and float32.
func TestLossOfCrowdedScores(t *testing.T) {
	for name, of := range crowds {
		for kind, change := range sides {
			cfg := paperConfig()
			change(&cfg)
			cfg.Bins = 4
			cfg.ScoreRange = [2]float64{0, 1}
			ev := positive(crowdedEvents[float64](80_000, of))
			if kind == "quadrature" {
				ev.Weight = nil
			}
			checkSweep(t, ev, cfg, fmt.Sprint(name, ", ", kind))
		}
	}
}

// A variable that is given twice has the loss and the gradient that it has once, whose walk has other records.
func TestTwoVariablesOfCrowdedScores(t *testing.T) {
	for name, of := range crowds {
		cfg := paperConfig()
		cfg.Order, cfg.Bins = 1, 8
		ev := positive(crowdedEvents[float64](80_000, of))
		want, got := make([]float64, len(ev.Score)), make([]float64, len(ev.Score))
		loss, err := LossAndGrad(want, ev, cfg)
		require.NoError(t, err)
		ev.Masses, ev.Mass = [][]float64{ev.Mass, ev.Mass}, nil
		twice, err := LossAndGrad(got, ev, cfg)
		require.NoError(t, err)
		require.InEpsilon(t, loss, twice, 1e-11, name)
		requireClose(t, want, got, 1e-11)
	}
}

// Results of crowded scores do not depend on the number of threads either, to the last bit.
func TestThreadsOfCrowdedScores(t *testing.T) {
	for name, of := range crowds {
		for kind, change := range sides {
			cfg := paperConfig()
			change(&cfg)
			ev := crowdedEvents[float32](80_000, of)
			for i, w := range ev.Weight {
				ev.Weight[i] = w*w + 0.1
			}
			ev.Mass = slices.Clone(ev.Mass)
			for i := range ev.Mass[:50_000] {
				ev.Mass[i] = float32(50 + i%40)
			}
			checkThreads(t, ev, cfg, name+", "+kind)
		}
	}
}
