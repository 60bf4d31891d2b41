package core

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// falling returns background whose scores depend on the mass.
func falling(n int) Events[float64] {
	rng := rand.New(rand.NewPCG(51, 52))
	var ev Events[float64]
	for range n {
		m := rng.ExpFloat64()
		ev.Mass = append(ev.Mass, 100+50*m)
		ev.Score = append(ev.Score, 1/(1+math.Exp(-rng.NormFloat64()-m+1)))
	}
	return ev
}

// Events that take no part are not pushed; others in proportion to their weight, whatever the scale of all.
func TestDirectionOfWeights(t *testing.T) {
	ev := falling(2000)
	cfg := DefaultConfig(MoDe)
	cfg.MassRange = [2]float64{105, 250}
	ev.Weight = make([]float64, len(ev.Score))
	for i := range ev.Weight {
		ev.Weight[i] = 1 + 2*float64(i%2)
	}
	ev.Weight[3] = 0
	push, scaled := make([]float64, 2000), make([]float64, 2000)
	found, err := Direction(push, ev, cfg, Steering{Rate: 1, Factor: 1, Logits: true})
	require.NoError(t, err)
	require.Zero(t, push[3])
	moved := 0
	for i, m := range ev.Mass {
		if m < 105 || m > 250 {
			require.Zero(t, push[i])
		} else if i != 3 {
			moved++
		}
		ev.Weight[i] *= 1e7
	}
	require.Equal(t, moved, found.Moved)
	_, err = Direction(scaled, ev, cfg, Steering{Rate: 1, Factor: 1, Logits: true})
	require.NoError(t, err)
	require.InDeltaSlice(t, push, scaled, 1e-9)
}

// An event of almost no weight has a rank inside (0, 1) too, wherever its score and its mass are.
func TestDirectionOfTinyWeights(t *testing.T) {
	for _, tiny := range []float64{1e-10, 1e-16, 1e-30, 5e-324} {
		ev := falling(2000)
		ev.Weight = slices.Repeat([]float64{1}, 2000)
		for _, values := range [][]float64{ev.Score, ev.Mass} {
			ev.Weight[slices.Index(values, slices.Max(values))] = tiny
			ev.Weight[slices.Index(values, slices.Min(values))] = tiny
		}
		push := make([]float64, 2000)
		found, err := Direction(push, ev, DefaultConfig(MoDe), Steering{Rate: 1, Factor: 1})
		require.NoError(t, err)
		require.Equal(t, 2000, found.Moved)
		require.False(t, slices.ContainsFunc(append(push, found.Residual...), func(x float64) bool { return !finite(x) }), tiny)
	}
}

// Gradient descent along the push makes the loss smaller, and the push and the sum of residuals are one function.
func TestDirectionMakesFlat(t *testing.T) {
	ev, cfg := falling(4000), DefaultConfig(MoDe)
	push := make([]float64, 4000)
	sum, norm := make([]float64, DirectionSize(1, 1)), 0.0
	loss := func() float64 {
		value, err := Loss(ev, cfg)
		require.NoError(t, err)
		return value
	}
	before := loss()
	for step := range 60 {
		found, err := Direction(push, ev, cfg, Steering{Norm: norm, Rate: max(1/float64(step+1), 0.005), Factor: 1, Sum: sum, Logits: true})
		require.NoError(t, err)
		require.InDelta(t, loss(), found.Loss, 0.1*before)
		norm = found.Norm
		for k, r := range found.Residual {
			sum[k] += 0.02 * r
		}
		for i, u := range push {
			logit := math.Log(ev.Score[i]/(1-ev.Score[i])) - 0.05*u
			ev.Score[i] = 1 / (1 + math.Exp(-logit))
		}
	}
	require.Less(t, loss(), 0.02*before)
}

// Groups of labels and categories have residuals of their own, and every number of threads the same bits.
func TestDirectionOfGroups(t *testing.T) {
	defer SetThreads(0)
	ev := falling(50_000)
	labels, categories := make([]int32, 50_000), make([]int64, 50_000)
	for i := range labels {
		labels[i], categories[i] = int32(i%3), int64(i/3%2)*1e12
	}
	ev.Label, ev.Category = LabelsOf(labels), LabelsOf(categories)
	cfg := DefaultConfig(MoDe)
	cfg.BackgroundLabel = []int32{2, 0}
	var want []float64
	for _, threads := range []int{1, 2, 5} {
		SetThreads(threads)
		push := make([]float64, 50_000)
		found, err := Direction(push, ev, cfg, Steering{Rate: 1, Factor: 1})
		require.NoError(t, err)
		require.Len(t, found.Residual, DirectionSize(1, 2))
		if want == nil {
			want = push
			for i, u := range push {
				require.Equal(t, labels[i] == 1, u == 0, i)
			}
		}
		require.Equal(t, want, push)
	}
}

func TestDirectionErrors(t *testing.T) {
	ev, cfg, push := falling(200), DefaultConfig(MoDe), make([]float64, 200)
	for want, st := range map[string]Steering{
		"batch = 201: must be 1 to the number of events, 200": {Batch: 201},
		"push has length 200, but the batch has 100 events":   {Batch: 100},
		"sum has length 3, and must have 144":                 {Sum: make([]float64, 3)},
		"norm = -1: must be finite and at least 0":            {Norm: -1},
		"rate = 1.5: must be from 0 to 1":                     {Rate: 1.5},
		"factor = +Inf: must be finite":                       {Factor: inf},
		"sum[143] = NaN: must be finite":                      {Sum: append(make([]float64, 143), nan)},
	} {
		_, err := Direction(push, ev, cfg, st)
		require.ErrorContains(t, err, want)
	}
	_, err := Direction(push, ev, DefaultConfig(DisCo), Steering{Rate: 1})
	require.ErrorIs(t, err, ErrOption)
	ev.Score[17] = 2
	_, err = Direction(push, ev, cfg, Steering{Rate: 1})
	require.ErrorContains(t, err, "score[17] = 2 lies outside")
}

func ExampleDirection() {
	ev := falling(2000)
	push := make([]float64, len(ev.Score))
	found, err := Direction(push, ev, DefaultConfig(MoDe), Steering{Rate: 1, Factor: 4, Logits: true})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(found.Moved, len(found.Residual))
	// Output: 2000 144
}

func ExampleDirectionSize() {
	fmt.Println(DirectionSize(1, 1), DirectionSize(2, 3)) // of one mass, and of two with three background labels
	// Output: 144 900
}
