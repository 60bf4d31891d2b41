package constraint_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libmode/libmode/core"
	"github.com/libmode/libmode/core/constraint"
	"github.com/stretchr/testify/require"
)

// A state that cannot be is an error, which names the number and leaves the state as it was.
func TestStatesThatCannotBe(t *testing.T) {
	ev, cfg := batch(rand.New(rand.NewPCG(1, 2)), 300), core.DefaultConfig()
	ev.Category = core.LabelsOf(slices.Repeat([]int32{0, 1}, 150))
	begun := make([]float64, constraint.StateSize(1, 2))
	push := make([]float64, 300)
	direct := func(state []float64) error {
		_, err := constraint.Direction(push, like(push), nil, ev, cfg, constraint.Steering{State: state, Categories: 2})
		return err
	}
	require.NoError(t, constraint.CheckState(begun, 1, 2))
	require.NoError(t, direct(begun))
	require.NoError(t, constraint.CheckState(begun, 1, 2))
	at := func(name string, part int) int {
		f := constraint.Layout[slices.IndexFunc(constraint.Layout, func(f constraint.Field) bool { return f.Name == name })]
		return f.At + part*f.Stride
	}
	for want, of := range map[string]struct {
		at    int
		value float64
	}{
		"state[0] = 7: the version of the state, and this library reads version 1": {0, 7},
		"state[0] = NaN: the version of the state":                                 {0, nan},
		"state[1] = 1, and state[0] = 0: a state without a version":                {0, 0},
		"state[1] = 0.5: steps must be a number, at least 1":                       {1, 0.5},
		"state[1] = NaN: must be finite":                                           {1, nan},
		"state[7] = -5: factor must be a number from":                              {at("factor", 0), -5},
		"state[7] = 1.5: factor must be a number from":                             {at("factor", 0), 1.5},
		"state[8] = 1.5: masses must be an integer from 1 to 3":                    {at("masses", 0), 1.5},
		"state[9] = -1: categories must be an integer from 0":                      {at("categories", 0), -1},
		"state is of 1 categories, and not of 2":                                   {at("categories", 0), 1},
		"batches must be a number, at least 0":                                     {at("batches", 1), -1},
		"known must be a number, at least 0":                                       {at("known", 1), -1},
		"signals must be a number, at least 0":                                     {at("signals", 1), -1},
		"signal must be a number from -1.000001 to 1.000001":                       {at("signal", 1) + 3, 1.5},
		"= -Inf: must be finite":                                                   {at("mass", 1) + 7, math.Inf(-1)},
	} {
		state := slices.Clone(begun)
		state[of.at] = of.value
		before := slices.Clone(state)
		for _, err := range []error{constraint.CheckState(state, 1, 2), direct(state)} {
			require.ErrorContains(t, err, want)
		}
		for i := range state {
			require.True(t, state[i] == before[i] || state[i] != state[i] && before[i] != before[i], "state[%d]", i)
		}
	}
	empty := make([]float64, len(begun))
	empty[at("signal", 1)+3] = 0.5
	require.ErrorContains(t, constraint.CheckState(empty, 1, 2), fmt.Sprintf("state[%d] = 0.5, and state[0] = 0", at("signal", 1)+3))
	require.ErrorContains(t, constraint.CheckState(begun, 2, 1), "state is of 2 categories, and not of 1")
	require.ErrorContains(t, constraint.CheckState(begun[:5], 1, 2), "state has length 5, and must have 7440")
}

// The largest numbers that a state may have, whose sums overflow, are no crash, and give multipliers and a next state that are finite.
func TestLargestNumbersOfAState(t *testing.T) {
	ev, cfg := batch(rand.New(rand.NewPCG(1, 2)), 300), core.DefaultConfig()
	cfg.Order, cfg.MaxSlope = 1, 0.5
	for _, name := range []string{"level", "now"} {
		state, push := make([]float64, constraint.StateSize(1, 0)), make([]float64, 300)
		multiplier := like(push)
		direct := func() {
			_, err := constraint.Direction(push, multiplier, nil, ev, cfg, constraint.Steering{State: state})
			require.NoError(t, err)
		}
		direct()
		for _, f := range constraint.Layout {
			for i := range state[f.At:][:f.Rows*f.Columns] {
				switch {
				case f.Name == name:
					state[f.At+i] = math.Copysign(f.Most, 0.5-float64(i/f.Columns%2))
				case f.Name == "mean" || f.Name == "known": // what acts at once is significant
					state[f.At+i] = 1e10
				}
			}
		}
		direct()
		require.NoError(t, constraint.CheckState(state, 1, 0), name)
		for i, x := range multiplier {
			require.True(t, finite(x), "%s: multiplier[%d] = %v", name, i, x)
		}
	}
}
