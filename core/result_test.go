package core

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// resultCases are configurations with every way to a bias.
func resultCases() map[string]Config {
	of := func(change func(*Config)) Config {
		cfg := DefaultConfig(MoDe)
		cfg.Order = 1
		change(&cfg)
		return cfg
	}
	return map[string]Config{
		"order 0":       of(func(c *Config) { c.Order = 0 }),
		"order 2":       of(func(c *Config) { c.Order = 2 }),
		"order 5":       of(func(c *Config) { c.Order = 5 }),
		"plain":         of(func(c *Config) { c.Unbiased = false }),
		"quadrature":    of(func(c *Config) { c.Moments = Quadrature }),
		"sum, penalty":  of(func(c *Config) { c.Reduction, c.SlopePenalty = Sum, 0.3 }),
		"max_slope":     of(func(c *Config) { c.MaxSlope = 0.4 }),
		"monotonic":     of(func(c *Config) { c.Order, c.Monotonic = 2, true }),
		"open range":    of(func(c *Config) { c.ScoreRange = unbounded() }),
		"range of mass": of(func(c *Config) { c.MassRange = [2]float64{60, 200} }),
	}
}

// The loss and the gradient are those of LossAndGrad, to the last bit, and the bias is what the plain loss has more
// than the unbiased one, by two further calls.
func TestEvaluateAgreesWithTwoCalls(t *testing.T) {
	for name, cfg := range resultCases() {
		for _, n := range []int{200, 3_000, 70_000} {
			for _, weighted := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, n = %d, weighted = %v", name, n, weighted), func(t *testing.T) {
					agreesWithTwoCalls(t, resultEvents(n, 1, weighted), cfg)
				})
			}
		}
	}
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
	ev := resultEvents(6_000, 1, true)
	label, category := make([]int32, 6_000), make([]int32, 6_000)
	for i := range label {
		label[i], category[i] = int32(i%3), int32(i%5)
	}
	cfg := DefaultConfig(MoDe)
	cfg.BackgroundLabel = []int32{0, 2}
	ev.Label = LabelsOf(label)
	agreesWithTwoCalls(t, ev, cfg)
	ev.Category = LabelsOf(category)
	agreesWithTwoCalls(t, ev, cfg)
}

// The number of events is that of equal weights, and does not depend on their unit.
func TestEvaluateCountsEvents(t *testing.T) {
	ev := resultEvents(4_000, 1, false)
	cfg := DefaultConfig(MoDe)
	found, err := Evaluate(nil, nil, ev, cfg)
	require.NoError(t, err)
	assert.Equal(t, 4_000., found.Events)

	ev.Weight = make([]float64, 4_000)
	var sum, squares float64
	for i := range ev.Weight {
		ev.Weight[i] = float64(1 + i%4)
		sum, squares = sum+ev.Weight[i], squares+ev.Weight[i]*ev.Weight[i]
	}
	found, err = Evaluate(nil, nil, ev, cfg)
	require.NoError(t, err)
	assert.InDelta(t, sum*sum/squares, found.Events, 1e-9)

	cfg.MassRange = [2]float64{0, 100}
	inside := 0
	for i, m := range ev.Mass {
		ev.Weight[i] = 3
		if m <= 100 {
			inside++
		}
	}
	found, err = Evaluate(nil, nil, ev, cfg)
	require.NoError(t, err)
	assert.Equal(t, float64(inside), found.Events)
}

// DisCo and flatness have a loss and a gradient, and no bias.
func TestEvaluateOfOtherLosses(t *testing.T) {
	ev := resultEvents(100, 1, false)
	for _, kind := range []LossKind{DisCo, Flatness} {
		grad, want := make([]float64, 100), make([]float64, 100)
		found, err := Evaluate(grad, nil, ev, DefaultConfig(kind))
		require.NoError(t, err)
		loss, err := LossAndGrad(want, ev, DefaultConfig(kind))
		require.NoError(t, err)
		require.Equal(t, loss, found.Loss)
		require.Equal(t, want, grad)
		require.True(t, math.IsNaN(found.Bias) && math.IsNaN(found.Events))
	}
}
