package core

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The loss and the gradient are those of LossAndGrad, to the last bit, and the bias is what the plain loss has more
// than the unbiased one, by two further calls.
func TestEvaluateAgreesWithTwoCalls(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"order 0":       func(c *Config) { c.Order = 0 },
		"order 2":       func(c *Config) { c.Order = 2 },
		"order 5":       func(c *Config) { c.Order = 5 },
		"plain":         func(c *Config) { c.Unbiased = false },
		"quadrature":    func(c *Config) { c.Moments = Quadrature },
		"sum, penalty":  func(c *Config) { c.Reduction, c.SlopePenalty = Sum, 0.3 },
		"max_slope":     func(c *Config) { c.MaxSlope = 0.4 },
		"monotonic":     func(c *Config) { c.Order, c.Monotonic = 2, true },
		"open range":    func(c *Config) { c.ScoreRange = unbounded() },
		"range of mass": func(c *Config) { c.MassRange = [2]float64{60, 200} },
	} {
		for _, n := range []int{200, 70_000} {
			for _, weighted := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, n = %d, weighted = %v", name, n, weighted), func(t *testing.T) {
					cfg := DefaultConfig(MoDe)
					cfg.Order = 1
					change(&cfg)
					agreesWithTwoCalls(t, resultEvents(n, 1, weighted), cfg)
				})
			}
		}
	}
}

func TestEvaluateOfSeveralVariables(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		ev := resultEvents(5_000, 2, weighted)
		cfg := DefaultConfig(MoDe)
		cfg.Missing = MissingIgnore
		ev.Masses[1][7], ev.Masses[0][11] = math.NaN(), math.NaN()
		agreesWithTwoCalls(t, ev, cfg)
		cfg.Joint = true
		agreesWithTwoCalls(t, ev, cfg)
		cfg.Joint, cfg.ScoreRange = false, unbounded() // each variable sorts
		agreesWithTwoCalls(t, ev, cfg)
	}
}

func TestEvaluateOfLabelsAndCategories(t *testing.T) {
	cd, cfg := categorize[float64](6_000, []int64{3, -4, 9}, true, true), DefaultConfig(MoDe)
	cfg.BackgroundLabel = []int32{0, 2}
	agreesWithTwoCalls(t, cd.Events, cfg)
}

func agreesWithTwoCalls(t *testing.T, ev Events[float64], cfg Config) {
	t.Helper()
	grad, expected := make([]float64, len(ev.Score)), make([]float64, len(ev.Score))
	found, err := Evaluate(grad, nil, ev, cfg)
	require.NoError(t, err)
	loss, err := LossAndGrad(expected, ev, cfg)
	require.NoError(t, err)
	assert.Equal(t, loss, found.Loss)
	assert.Equal(t, expected, grad)

	cfg.Unbiased = true
	unbiased, err := Loss(ev, cfg)
	require.NoError(t, err)
	cfg.Unbiased = false
	plain, err := Loss(ev, cfg)
	require.NoError(t, err)
	assert.InDelta(t, plain-unbiased, found.Bias, 1e-12*plain)
	assert.Positive(t, found.Bias)
}

func resultEvents(n, variables int, weighted bool) Events[float64] {
	rng := rand.New(rand.NewPCG(21, uint64(n)))
	ev := Events[float64]{Score: make([]float64, n), Masses: make([][]float64, variables)}
	for k := range ev.Masses {
		ev.Masses[k] = make([]float64, n)
	}
	if weighted {
		ev.Weight = make([]float64, n)
	}
	for i := range n {
		ev.Score[i] = math.Round(rng.Float64()*500) / 500 // with ties
		for k := range ev.Masses {
			ev.Masses[k][i] = 50 + 60*rng.ExpFloat64()
		}
		if weighted {
			ev.Weight[i] = rng.ExpFloat64() - 0.05
		}
		if cut := 0.02; weighted && ev.Weight[i] < cut && variables == 1 {
			ev.Weight[i] = cut // which the loss without bins needs
		}
	}
	if variables == 1 {
		ev.Mass, ev.Masses = ev.Masses[0], nil
	}
	return ev
}

// The number of events is that of equal weights, and counts those in the range of masses.
func TestEvaluateCountsEvents(t *testing.T) {
	ev, cfg := resultEvents(4_000, 1, false), DefaultConfig(MoDe)
	cfg.MassRange = [2]float64{0, 100}
	ev.Weight = make([]float64, 4_000)
	for _, step := range []float64{0, 1, 3} { // 0: equal weights
		var sum, squares float64
		for i, m := range ev.Mass {
			ev.Weight[i] = 1 + step*float64(i%4)
			if m <= 100 {
				sum, squares = sum+ev.Weight[i], squares+ev.Weight[i]*ev.Weight[i]
			}
		}
		found, err := Evaluate(nil, nil, ev, cfg)
		require.NoError(t, err)
		assert.InDelta(t, sum*sum/squares, found.Events, 1e-9)
	}
}
