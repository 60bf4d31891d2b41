package core

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// TestFlatnessAgainstBruteForce compares with the definition.
func TestFlatnessAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for compared := 0; compared < 150; {
		ev, random := randomCase(rng)
		cfg := DefaultConfig(Flatness)
		cfg.Bins, cfg.Binning, cfg.ScoreRange = random.Bins, random.Binning, [2]float64{-0.25, 1.5}
		got := make([]float64, len(ev.Score))
		value, err := LossAndGrad(got, ev, cfg)
		if errors.Is(err, ErrBin) { // negative weights left a bin unusable
			require.NotNil(t, ev.Weight)
			continue
		}
		require.NoError(t, err)
		compared++

		loss, grad := newBrute(t, ev, cfg).lossAndGrad()
		require.InDelta(t, loss, value, 1e-11*loss)
		require.InDeltaSlice(t, grad, got, 1e-10*floats.Norm(grad, inf))
	}
}

// One bin is flat. Options of other losses, and events that cannot be binned, are errors.
func TestFlatnessErrors(t *testing.T) {
	ev := manyEvents[float64](100, false)
	cfg := DefaultConfig(Flatness)
	cfg.Bins = 1
	grad := make([]float64, 100)
	loss, err := LossAndGrad(grad, ev, cfg)
	require.NoError(t, err)
	assert.InDelta(t, 0, loss, 1e-15)
	assert.InDelta(t, 0, floats.Norm(grad, inf), 1e-15)

	for want, change := range map[string]func(*Config){
		"order = 2 has no meaning for loss = flatness":     func(c *Config) { c.Order = 2 },
		"unbiased = true has no meaning":                   func(c *Config) { c.Unbiased = true },
		"reduction = sum has no meaning":                   func(c *Config) { c.Reduction = Sum },
		"bins = -1 must be at least 1":                     func(c *Config) { c.Bins = -1 },
		"score_range = [1, 0] must have":                   func(c *Config) { c.ScoreRange = [2]float64{1, 0} },
		"100 selected events cannot fill bins = 101":       func(c *Config) { c.Bins = 101 },
		"bin 0 of 2, mass in [0, 1), has sum of weights 0": func(c *Config) { c.Binning, c.Edges = GivenEdges, []float64{0, 1, math.MaxFloat64} },
	} {
		cfg := DefaultConfig(Flatness)
		change(&cfg)
		_, err := LossAndGrad(nil, ev, cfg)
		assert.ErrorContains(t, err, want)
	}
}
