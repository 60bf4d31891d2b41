package constraint_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libmode/libmode/core"
	"github.com/libmode/libmode/core/constraint"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// direct returns push and multiplier of a batch.
func direct(t *testing.T, ev core.Events[float64], cfg core.Config, st constraint.Steering) (push, multiplier []float64) {
	t.Helper()
	push, multiplier = make([]float64, len(ev.Score)), make([]float64, len(ev.Score))
	_, err := constraint.Direction(push, multiplier, nil, ev, cfg, st)
	require.NoError(t, err)
	return push, multiplier
}

// where returns the chosen events.
func where(ev core.Events[float64], category []int32, chosen func(c int32) bool) (found core.Events[float64], of []int32) {
	for i, c := range category {
		if chosen(c) {
			found.Score, found.Mass = append(found.Score, ev.Score[i]), append(found.Mass, ev.Mass[i])
			of = append(of, c)
		}
	}
	found.Category = core.LabelsOf(of)
	return found, of
}

// One category is as none.
func TestOneCategoryIsAsNone(t *testing.T) {
	rng, cfg := rand.New(rand.NewPCG(21, 22)), core.DefaultConfig()
	none, one := make([]float64, constraint.StateSize(1, 0)), make([]float64, constraint.StateSize(1, 1))
	for range 4 {
		ev := batch(rng, 300)
		push, multiplier := direct(t, ev, cfg, constraint.Steering{State: none})
		ev.Category = core.LabelsOf(make([]uint8, 300))
		again, of := direct(t, ev, cfg, constraint.Steering{State: one, Categories: 1})
		require.Equal(t, push, again)
		require.Equal(t, multiplier, of)
	}
	one[9] = 0 // the number of categories
	require.Equal(t, none, one)
}

// A category with few events, or with none, is as if it were not there: nothing is pushed, and the others and its memory stay as they
// are. Its next batch goes on from there.
func TestACategoryOfFewEvents(t *testing.T) {
	rng, cfg := rand.New(rand.NewPCG(23, 24)), core.DefaultConfig()
	size := constraint.StateSize(1, 3)
	part := (size - constraint.StateSize(1, 0)) / 2
	ofPart := func(state []float64, k int) []float64 { return state[size-(3-k)*part:][:part] }
	with, without := make([]float64, size), make([]float64, size)
	for _, few := range []int{100, 1, 0, 2, 100} {
		ev, category := batch(rng, 900), make([]int32, 900)
		for i := range category {
			category[i] = int32(2 * (i % 2)) // 0 and 2
			if i < few {
				category[i] = 1
			}
		}
		ev.Category = core.LabelsOf(category)
		before := slices.Clone(ofPart(with, 1))
		push, multiplier := direct(t, ev, cfg, constraint.Steering{State: with, Categories: 3})
		if few == 100 {
			again, _ := direct(t, ev, cfg, constraint.Steering{State: without, Categories: 3})
			require.Equal(t, push, again)
			require.NotZero(t, floats.Norm(push[:few], 2))
			continue
		}
		require.Equal(t, make([]float64, few), push[:few])
		require.Equal(t, slices.Repeat([]float64{1}, few), multiplier[:few])
		require.Equal(t, before, ofPart(with, 1))
		others, _ := where(ev, category, func(c int32) bool { return c != 1 })
		want, by := direct(t, others, cfg, constraint.Steering{State: without, Categories: 3})
		require.InDeltaSlice(t, want, push[few:], 1e-9*floats.Norm(want, math.Inf(1)))
		require.InDeltaSlice(t, by, multiplier[few:], 1e-9*floats.Norm(by, math.Inf(1)))
		for i := range with {
			require.InDelta(t, without[i], with[i], 1e-9*(1+math.Abs(with[i])), "state[%d]", i)
		}
		copy(without, with)
	}
}

// A batch in which no category has events enough is the error of the first one.
func TestNoCategoryHasEventsEnough(t *testing.T) {
	ev, cfg, push := batch(rand.New(rand.NewPCG(25, 26)), 6), core.DefaultConfig(), make([]float64, 6)
	cfg.Order, ev.Category = 2, core.LabelsOf([]int64{0, 0, 0, 1, 1, 1})
	state := make([]float64, constraint.StateSize(1, 2))
	_, err := constraint.Direction(push, like(push), nil, ev, cfg, constraint.Steering{State: state, Categories: 2})
	require.ErrorIs(t, err, core.ErrNoEvents)
	require.ErrorContains(t, err, "events of category = 0: ")
	require.Equal(t, make([]float64, len(state)), state)
}

func TestCategoriesOutOfRange(t *testing.T) {
	ev, cfg, push := batch(rand.New(rand.NewPCG(27, 28)), 300), core.DefaultConfig(), make([]float64, 300)
	for want, of := range map[string]struct {
		at       int
		category int64
		divided  int
	}{
		"category[7] = 3: must be from 0 to 2":       {7, 3, 3},
		"category[0] = -1: must be from 0 to 2":      {0, -1, 3},
		"category[299] = 1099511627776: must be":     {299, 1 << 40, 3},
		"category is given, and categories = 0: set": {0, 0, 0},
	} {
		category := make([]int64, 300)
		category[of.at] = of.category
		ev.Category = core.LabelsOf(category)
		_, err := constraint.Direction(push, like(push), nil, ev, cfg, constraint.Steering{Categories: of.divided})
		require.ErrorIs(t, err, core.ErrOption)
		require.ErrorContains(t, err, want)
	}
	labels := slices.Repeat([]int8{0, 1}, 150) // events of other labels are not looked at
	category := make([]int64, 300)
	category[1] = 77
	ev.Label, ev.Category = core.LabelsOf(labels), core.LabelsOf(category)
	_, err := constraint.Direction(push, like(push), nil, ev, cfg, constraint.Steering{Categories: 1})
	require.NoError(t, err)
}
