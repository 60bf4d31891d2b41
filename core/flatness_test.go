package core

import (
	"errors"
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

// One bin is flat.
func TestFlatnessOfOneBin(t *testing.T) {
	ev := manyEvents[float64](100, false)
	cfg := DefaultConfig(Flatness)
	cfg.Bins = 1
	grad := make([]float64, 100)
	loss, err := LossAndGrad(grad, ev, cfg)
	require.NoError(t, err)
	assert.InDelta(t, 0, loss, 1e-15)
	assert.InDelta(t, 0, floats.Norm(grad, inf), 1e-15)
}
