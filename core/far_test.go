package core

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// farEvents returns exponential masses, the first of which is as far as that.
func farEvents(far float64) Events[float64] {
	rng := rand.New(rand.NewPCG(3, 9))
	var ev Events[float64]
	for range 2000 {
		ev.Score, ev.Mass = append(ev.Score, rng.Float64()), append(ev.Mass, 100+60*rng.ExpFloat64())
	}
	ev.Mass[0] = far
	return ev
}

// A fit loses no digits to a far mass, and says nothing. What is made of c_1 alone loses more and more, first in
// silence, then with a warning, and then it is an error.
func TestWhatIsSaidOfFarMasses(t *testing.T) {
	for _, test := range []struct {
		far             float64
		penalty         float64
		warns, overflow bool
	}{
		{1e3, 0.1, false, false},
		{1e12, 0, false, false},
		{1e12, 0.1, true, false},
		{1e15, 0.1, false, true},
	} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			var said []string
			cfg := paperConfig()
			cfg.Order, cfg.Bins, cfg.Moments, cfg.SlopePenalty = 2, 16, Projection, test.penalty
			_, err := Loss(farEvents(test.far), cfg.WithWarnings(func(says string) { said = append(said, says) }))
			if test.overflow {
				require.ErrorIs(t, err, ErrOverflow)
				require.ErrorContains(t, err, fmt.Sprintf("mass = %v is so far from most others", test.far))
				return
			}
			require.NoError(t, err)
			if !test.warns {
				require.Empty(t, said)
				return
			}
			require.Len(t, said, 1)
			assert.Contains(t, said[0], fmt.Sprintf("mass = %v is so far from most others that rounding may change the gradient by", test.far))
		})
	}
}

// Of several categories that have something to say, one does.
func TestOneWarningACall(t *testing.T) {
	ev := farEvents(1e9)
	ev.Mass[1] = 1e9
	category := make([]int32, len(ev.Mass))
	for i := range category {
		category[i] = int32(i % 2)
	}
	ev.Category = LabelsOf(category)
	cfg := paperConfig()
	cfg.Order, cfg.Bins, cfg.Moments, cfg.Monotonic = 2, 16, Projection, true
	calls := 0
	_, err := Loss(ev, cfg.WithWarnings(func(string) { calls++ }))
	require.NoError(t, err)
	require.Equal(t, 1, calls)
}

// Bins whose mean masses are the same determine no slope, and those whose mean masses are nearly so determine one.
func TestColumnsThatDependOnEachOther(t *testing.T) {
	for _, test := range []struct {
		apart float64
		kind  error
	}{{0, ErrOption}, {1e-3, nil}} {
		cfg := paperConfig()
		cfg.Order, cfg.Moments, cfg.Binning, cfg.Edges = 1, Projection, GivenEdges, []float64{0, 4, 8, 12}
		ev := Events[float64]{Score: []float64{0.1, 0.4, 0.7, 0.2, 0.5, 0.3}, Mass: []float64{0, 3, 5, 7, 9, 12}}
		ev.Weight = []float64{-1, 3, -6.5, 7.5, 15, -13}
		for b := range 3 { // of mean mass 6
			first, second := ev.Mass[2*b], ev.Mass[2*b+1]
			mean := 6 + test.apart*float64(b)
			ev.Weight[2*b], ev.Weight[2*b+1] = second-mean, mean-first
		}
		_, err := Loss(ev, cfg)
		require.ErrorIs(t, err, test.kind)
	}
}

// Where weights cancel below a score, F_b and its slope are 0 there but V_b is not: what monotonic takes away from the
// derivatives of every moment counts in the bias.
func TestFarKernelWithoutSlope(t *testing.T) {
	cfg := paperConfig()
	cfg.Order, cfg.Bins, cfg.Moments, cfg.Monotonic, cfg.Unbiased = 2, 6, Projection, true, true
	cfg.ScoreRange = unbounded()
	ev := spreadEvents[float64](120, true, 0)
	ev.Mass[7] = 1e6
	for k, w := range []float64{4, -2, -2} {
		ev.Score[3*k], ev.Mass[3*k], ev.Weight[3*k] = 0.001*float64(k+1)-0.01, 0.5, w
	}
	requireDefinition(t, ev, cfg, 1e-9)
}
