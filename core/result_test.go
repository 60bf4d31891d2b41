package core

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The loss and the gradient are those of LossAndGrad, to the last bit, and the bias is what the plain loss has more
// than the unbiased one, by two further calls.
func TestEvaluateAgreesWithTwoCalls(t *testing.T) {
	for name, change := range walkOptions {
		for _, n := range []int{200, 40_000} {
			for _, weighted := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, n = %d, weighted = %v", name, n, weighted), func(t *testing.T) {
					cfg := paperConfig()
					change(&cfg)
					agreesWithTwoCalls(t, positive(spreadEvents[float64](n, weighted, 0.5)), cfg)
				})
			}
		}
	}
}

func TestEvaluateOfSeveralVariables(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		ev, cfg := severalVariables[float64](5_000, weighted, 0.01), DefaultConfig()
		cfg.IgnoreMissing, cfg.Bins = true, 4
		agreesWithTwoCalls(t, ev, cfg)
		cfg.Joint = true
		agreesWithTwoCalls(t, ev, cfg)
		cfg.Joint, cfg.ScoreRange = false, unbounded() // each variable sorts
		agreesWithTwoCalls(t, ev, cfg)
	}
}

func TestEvaluateOfLabelsAndCategories(t *testing.T) {
	cd, cfg := categorize[float64](6_000, []int64{3, -4, 9}, true, true), DefaultConfig()
	cfg.BackgroundLabel = []int32{0, 2}
	agreesWithTwoCalls(t, cd.Events, cfg)
}

func agreesWithTwoCalls(t *testing.T, ev Events[float64], cfg Config) {
	t.Helper()
	grad, expected := make([]float64, len(ev.Score)), make([]float64, len(ev.Score))
	found, err := Evaluate(grad, ev, cfg)
	require.NoError(t, err)
	loss, err := LossAndGrad(expected, ev, cfg)
	require.NoError(t, err)
	assert.Equal(t, loss, found.Loss)
	assert.Equal(t, expected, grad)

	cfg.Biased = false
	unbiased, err := Loss(ev, cfg)
	require.NoError(t, err)
	cfg.Biased = true
	plain, err := Loss(ev, cfg)
	require.NoError(t, err)
	assert.InDelta(t, plain-unbiased, found.Bias, 1e-12*plain)
	assert.Positive(t, found.Bias)
}

// The number of events is that of equal weights, and counts those in the range of masses.
func TestEvaluateCountsEvents(t *testing.T) {
	ev, cfg := spreadEvents[float64](4_000, false, 0.1), DefaultConfig()
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
		found, err := Evaluate(nil, ev, cfg)
		require.NoError(t, err)
		assert.InDelta(t, sum*sum/squares, found.Events, 1e-9)
	}
}
