package constraint_test

import (
	"math/rand/v2"
	"testing"

	"github.com/libmode/libmode/core"
	"github.com/libmode/libmode/core/constraint"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// Planed background keeps its mean mass if the order allows a free line, and gets the mean mass of signal at order 0 or with a bound.
func TestStartKeepsFreeMoments(t *testing.T) {
	const background, signal = 20_000, 5_000
	rng := rand.New(rand.NewPCG(7, 8))
	ev, label := core.Events[float64]{}, make([]int32, background+signal)
	for i := range label {
		mass := rng.ExpFloat64() // of background, with the mean 1
		if i >= background {
			label[i], mass = 1, 2+0.2*rng.NormFloat64()
		}
		ev.Mass, ev.Score = append(ev.Mass, mass), append(ev.Score, rng.Float64())
	}
	ev.Label = core.LabelsOf(label)
	line, bounded := core.DefaultConfig(), core.DefaultConfig()
	line.Order, bounded.Order, bounded.MaxSlope, bounded.SlopeOf = 1, 1, 0.5, core.Selected
	for name, c := range map[string]struct {
		cfg  core.Config
		mean float64
	}{"order 0": {core.DefaultConfig(), 1.9}, "line": {line, 1}, "bounded line": {bounded, 1.9}} {
		n := background + signal
		multiplier, steering := make([]float64, n), constraint.Steering{State: make([]float64, constraint.StateSize(1, 0))}
		_, err := constraint.Direction(make([]float64, n), multiplier, nil, ev, c.cfg, steering)
		require.NoError(t, err)
		planed := multiplier[:background]
		require.InDelta(t, background, floats.Sum(planed), 0.05*background, name)
		require.InDelta(t, c.mean, floats.Dot(ev.Mass[:background], planed)/floats.Sum(planed), 0.1, name)
		near, far := 0.0, 0.0 // the peak stays
		for i, m := range ev.Mass[:background] {
			if m > 1.8 && m < 2.2 {
				near = max(near, planed[i])
			} else if m > 3 {
				far = max(far, planed[i])
			}
		}
		require.Greater(t, near, 3*far, name)
	}
}
