package core

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// severalVariables draws events with three masses, the second of which some events have not and the third of which
// depends on the first.
func severalVariables[T Float](n int, weighted bool, missing float64) Events[T] {
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	ev := Events[T]{Score: make([]T, n), Masses: [][]T{make([]T, n), make([]T, n), make([]T, n)}}
	if weighted {
		ev.Weight = make([]T, n)
	}
	for i := range n {
		a := rng.ExpFloat64()
		ev.Masses[0][i], ev.Masses[1][i], ev.Masses[2][i] = T(60+40*a), T(rng.NormFloat64()), T(math.Floor(8*a+4*rng.Float64()))
		if rng.Float64() < missing {
			ev.Masses[1][i] = T(math.NaN())
		}
		ev.Score[i] = T(math.Floor(1e5/(1+math.Exp(rng.NormFloat64()-a))) / 1e5)
		if weighted {
			ev.Weight[i] = T(rng.NormFloat64()/4 + 1)
		}
	}
	return ev
}

// testOneByOne compares with the mean of the losses of calls with one variable each, from which events that have no
// value are left out by hand.
func testOneByOne[T Float](t *testing.T, ev Events[T], cfg Config, tolerance float64) {
	t.Helper()
	n := len(ev.Score)
	got, want := make([]T, n), make([]T, n)
	loss, err := LossAndGrad(got, ev, cfg)
	require.NoError(t, err)
	var mean float64
	for k, mass := range ev.Masses {
		one, index := Events[T]{}, []int{}
		for i, m := range mass {
			if m == m {
				one.Score, one.Mass, index = append(one.Score, ev.Score[i]), append(one.Mass, m), append(index, i)
				if ev.Weight != nil {
					one.Weight = append(one.Weight, ev.Weight[i])
				}
			}
		}
		own := cfg
		own.Variables = nil
		if cfg.Variables != nil {
			own.Bins, own.MassRange = cfg.Variables[k].Bins, cfg.Variables[k].MassRange
		}
		grad := make([]T, len(index))
		alone, err := LossAndGrad(grad, one, own)
		require.NoError(t, err)
		mean += alone / float64(len(ev.Masses))
		for j, i := range index {
			want[i] += grad[j] / T(len(ev.Masses))
		}
	}
	assert.InDelta(t, mean, loss, tolerance*(math.Abs(mean)+1e-3))
	requireClose(t, want, got, tolerance)
}

// A variable with events at an end of its range takes part, here with an error of its bins.
func TestVariableAtTheEndOfItsRange(t *testing.T) {
	for _, at := range []float64{2, 3} {
		ev, cfg := severalVariables[float64](500, false, 0), DefaultConfig()
		ev.Masses[1] = slices.Repeat([]float64{at}, 500)
		free := Variable{MassRange: unbounded()}
		cfg.Variables = []Variable{free, {MassRange: [2]float64{2, 3}}, free}
		_, err := Loss(ev, cfg)
		assert.ErrorContains(t, err, "variable 1 of mass: too few events, or too few different masses")
	}
}

func TestOneByOne(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"defaults":   func(c *Config) {},
		"order 2":    func(c *Config) { c.Order = 2 },
		"order 5":    func(c *Config) { c.Order, c.Bins = 5, 12 },
		"quadrature": func(c *Config) { c.Order, c.Quadrature = 1, true },
		"bounds":     func(c *Config) { c.Order, c.Monotonic, c.MaxSlope = 2, true, 0.5 },
		"paper":      func(c *Config) { *c = paperConfig() },
		"uniform":    func(c *Config) { c.Binning, c.Bins, c.Biased = Uniform, 5, true },
		"open":       func(c *Config) { c.ScoreRange = unbounded() },
		"many bins":  func(c *Config) { c.Bins, c.Biased = 45, true }, // cells that have no room in a record
		"its own": func(c *Config) {
			c.Order = 1
			c.Variables = []Variable{{Bins: 7, MassRange: [2]float64{60, 160}}, {Bins: 3, MassRange: unbounded()}, {Bins: 11, MassRange: unbounded()}}
		},
	} {
		for _, n := range []int{3000, 40_000} {
			for _, missing := range []float64{0, 0.3} {
				cfg := DefaultConfig()
				change(&cfg)
				cfg.IgnoreMissing = true
				weighted := n == 3000 && name != "uniform"
				t.Run(name, func(t *testing.T) { testOneByOne(t, severalVariables[float64](n, weighted, missing), cfg, 1e-9) })
				t.Run(name+", float32", func(t *testing.T) { testOneByOne(t, severalVariables[float32](n, weighted, missing), cfg, 2e-5) })
			}
		}
	}
}
