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
	"gonum.org/v1/gonum/floats"
)

// falling returns background whose scores depend on the mass.
func falling(n int) core.Events[float64] { return batch(rand.New(rand.NewPCG(51, 52)), n) }

// The push and its slope are 0 for events that take no part. The size is that of the events that are moved.
func TestDirectionOfWeights(t *testing.T) {
	ev := falling(2000)
	cfg := core.DefaultConfig()
	cfg.MassRange = [2]float64{5, 150}
	ev.Weight = make([]float64, len(ev.Score))
	for i := range ev.Weight {
		ev.Weight[i] = 1 + 2*float64(i%2)
	}
	ev.Weight[3] = 0
	push, slope := make([]float64, 2000), make([]float64, 2000)
	found, err := constraint.Direction(push, like(push), slope, ev, cfg, constraint.Steering{})
	require.NoError(t, err)
	moved := 0.0
	for i, m := range ev.Mass {
		if m < 5 || m > 150 || i == 3 {
			require.Zero(t, push[i])
			require.Zero(t, slope[i])
		} else {
			require.InDelta(t, ev.Score[i]*(1-ev.Score[i]), slope[i], 1e-12)
			moved++
		}
	}
	require.InDelta(t, 1/math.Sqrt(moved), found.Size, 0.2/math.Sqrt(moved)) // the logits have a width of 1 or so
}

// The loss, the bias and the events are those of the loss, whose bins are more than the bins of the push.
func TestDirectionReturnsTheLoss(t *testing.T) {
	for _, n := range []int{100, 220, 512, 3000} {
		for _, weighted := range []bool{false, true} {
			ev, cfg := falling(n), core.DefaultConfig()
			cfg.Order = 1
			if weighted {
				ev.Weight = make([]float64, n)
				for i, s := range ev.Score {
					ev.Weight[i] = math.Exp(3 * s)
				}
			}
			push := make([]float64, n)
			want, err := core.Evaluate(nil, ev, cfg)
			require.NoError(t, err)
			cfg.Biased = weighted // the push is of the unbiased loss in any case
			found, err := constraint.Direction(push, like(push), nil, ev, cfg, constraint.Steering{})
			require.NoError(t, err)
			require.InEpsilon(t, want.Loss, found.Loss, 1e-12)
			require.Equal(t, want.Events, found.Events)
			require.InEpsilon(t, want.Bias, found.Bias, 1e-12)
		}
	}
}

// A score_range of another width changes the scores alone, not how far their logits move.
func TestDirectionOfNarrowRanges(t *testing.T) {
	ev, cfg := falling(2000), core.DefaultConfig()
	wide, narrow := make([]float64, 2000), make([]float64, 2000)
	of, err := constraint.Direction(wide, like(wide), nil, ev, cfg, constraint.Steering{})
	require.NoError(t, err)
	floats.Scale(0x1p-30, ev.Score)
	cfg.ScoreRange[1] = 0x1p-30
	found, err := constraint.Direction(narrow, like(narrow), nil, ev, cfg, constraint.Steering{})
	require.NoError(t, err)
	floats.Scale(0x1p-30, narrow)
	require.InDeltaSlice(t, wide, narrow, 1e-6)
	require.InDelta(t, of.Size, found.Size, 1e-9)
}

// A network whose scores are all the same, or 0 and 1, and a score_range of any width give finite numbers.
func TestDirectionOfExtremeScores(t *testing.T) {
	push, slope := make([]float64, 200), make([]float64, 200)
	for _, limits := range [][2]float64{{0, 1}, {-math.MaxFloat64, 2}, {0, 1e-300}, {100, 100.5}} {
		for _, places := range [][]float64{{0}, {1}, {0.3}, {0, 1}, {0, 1e-300, 0.5, 1}} {
			ev, cfg := falling(200), core.DefaultConfig()
			cfg.ScoreRange = limits
			for i := range ev.Score {
				ev.Score[i] = max(limits[1]-places[i%len(places)]*min(1, limits[1]-limits[0]), limits[0])
			}
			var found constraint.Pushed
			var err error
			state, multiplier := make([]float64, constraint.StateSize(1, 0)), like(push)
			for range 3 {
				found, err = constraint.Direction(push, multiplier, slope, ev, cfg, constraint.Steering{State: state})
				require.NoError(t, err)
			}
			numbers := slices.Concat(push, multiplier, slope, state, []float64{found.Size})
			require.False(t, slices.ContainsFunc(numbers, func(x float64) bool { return !finite(x) }), "%v %v", limits, places)
			for i, s := range ev.Score {
				require.True(t, push[i] == 0 || s != limits[0] && s != limits[1], "%v %v: not pushed over an end", limits, places)
			}
			if limits[0] >= 0 {
				require.Equal(t, len(places) > 1, found.Size > 1e-3, "%v %v", limits, places)
			}
		}
	}
}

func TestDirectionErrors(t *testing.T) {
	ev, cfg, push := falling(200), core.DefaultConfig(), make([]float64, 200)
	state := make([]float64, constraint.StateSize(1, 0))
	for want, st := range map[string]constraint.Steering{
		"batch = 201: must be 1 to the number of events, 200":    {Batch: 201},
		"push has length 200, but the batch has 100 events":      {Batch: 100},
		"relative_strength = -1: must be finite and at least 0":  {RelativeStrength: -1},
		"tolerance = +Inf: must be finite and at least 0":        {Tolerance: inf},
		"tolerance = 5: a fixed strength ignores the tolerance":  {RelativeStrength: 0.5, Tolerance: 5, State: state},
		"tolerance = 5, but there is no state, which it follows": {Tolerance: 5},
		"state has length 3, and must have 3725":                 {State: make([]float64, 3)},
		"categories = -1: must be":                               {Categories: -1},
		"categories = 3, and no category is given":               {Categories: 3},
	} {
		_, err := constraint.Direction(push, like(push), nil, ev, cfg, st)
		require.ErrorContains(t, err, want)
	}
	_, err := constraint.Direction(push, like(push), push[:5], ev, cfg, constraint.Steering{})
	require.ErrorContains(t, err, "slope has length 5, but the batch has 200 events")
	_, err = constraint.Direction(push, push[:7], nil, ev, cfg, constraint.Steering{})
	require.ErrorContains(t, err, "multiplier has length 7, but the batch has 200 events")
	wrong := cfg
	wrong.Order = 17
	_, err = constraint.Direction(push, like(push), nil, ev, wrong, constraint.Steering{})
	require.ErrorIs(t, err, core.ErrOption)
	one := core.Events[float32]{Score: []float32{0}, Mass: []float32{1}}
	for want, limits := range map[string][2]float64{"[-1, 1e+40]": {-1, 1e40}, "[0, 1e-310]": {0, 1e-310}} {
		cfg.ScoreRange = limits
		_, err = constraint.Direction(make([]float32, 1), like(make([]float32, 1)), nil, one, cfg, constraint.Steering{})
		require.ErrorContains(t, err, "score_range = "+want+" is so wide or narrow")
	}
	cfg.ScoreRange, ev.Score[3] = [2]float64{math.Inf(-1), inf}, 1e200
	_, err = constraint.Direction(push, like(push), nil, ev, cfg, constraint.Steering{})
	require.ErrorIs(t, err, core.ErrOverflow)
	cfg.Order, cfg.SlopePenalty, ev.Score[3] = 1, 1e300, 0.5
	_, err = constraint.Direction(push, like(push), nil, ev, cfg, constraint.Steering{})
	require.ErrorContains(t, err, "too large to be squared")
	cfg.ScoreRange, ev.Score[3] = core.DefaultConfig().ScoreRange, 1e200
	_, err = constraint.Direction(push, like(push), nil, ev, cfg, constraint.Steering{State: state})
	require.ErrorContains(t, err, "score[3] = 1e+200 lies outside")
	require.Equal(t, make([]float64, constraint.StateSize(1, 0)), state)
}

func ExampleDirection() {
	ev, state := falling(2000), make([]float64, constraint.StateSize(1, 0)) // of one background label
	push, slope := make([]float64, len(ev.Score)), make([]float64, len(ev.Score))
	found, err := constraint.Direction(push, like(push), slope, ev, core.DefaultConfig(), constraint.Steering{State: state})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%.3f %.0f\n", found.Size, state[0])
	// Output: 0.022 1
}

func ExampleStateSize() {
	fmt.Println(constraint.StateSize(1, 0), constraint.StateSize(1, 3)) // of one background label, and of its three categories
	// Output: 3725 11155
}

// like returns an array as long as another.
func like[T core.Float](other []T) []T { return make([]T, len(other)) }
