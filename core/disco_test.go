package core

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/libmode/libmode/core/disco"
)

func onesIfNil(weight []float64, n int) []float64 {
	if weight != nil {
		return weight
	}
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	return ones
}

func largestOf(values []float64) (largest float64) {
	for _, v := range values {
		largest = math.Max(largest, math.Abs(v))
	}
	return largest
}

// manyEvents returns n events of which the score hangs on the mass a little.
func manyEvents[T Float](n int, weighted bool) Events[T] {
	rng := rand.New(rand.NewPCG(7, 8))
	ev := Events[T]{Score: make([]T, n), Mass: make([]T, n)}
	for i := range n {
		m := rng.ExpFloat64()
		ev.Mass[i] = T(50 + 80*m)
		ev.Score[i] = T(1 / (1 + math.Exp(-rng.NormFloat64()-0.1*m)))
	}
	if weighted {
		ev.Weight = make([]T, n)
		for i := range n {
			ev.Weight[i] = T(rng.Float64() - 0.1)
		}
	}
	return ev
}

// DisCo is the distance correlation of the masses and the scores of those events that take part.
func TestDisCoIsOfSelectedEvents(t *testing.T) {
	const n = 1000
	ev, cfg := manyEvents[float64](n, true), DefaultConfig(DisCo)
	cfg.Unbiased = true
	grad, want := make([]float64, n), make([]float64, n)
	loss, err := LossAndGrad(grad, ev, cfg)
	require.NoError(t, err)
	value, err := disco.Correlation(nil, want, ev.Mass, ev.Score, ev.Weight, true)
	require.NoError(t, err)
	assert.Equal(t, value, loss)
	assert.Equal(t, want, grad)
}

// Events of other labels take no part; several labels add up.
func TestDisCoLabels(t *testing.T) {
	ev := manyEvents[float64](1000, true)
	cfg := DefaultConfig(DisCo)
	var want float64
	all := make([]float64, 1000)
	for part := range 2 {
		lo, hi := 500*part, 500*part+500
		half := Events[float64]{Score: ev.Score[lo:hi], Mass: ev.Mass[lo:hi], Weight: ev.Weight[lo:hi]}
		loss, err := LossAndGrad(all[500*part:500*part+500], half, cfg)
		require.NoError(t, err)
		want += loss
	}
	labels := make([]int32, 1003)
	for i := 500; i < 1000; i++ {
		labels[i] = 4
	}
	for i := 1000; i < 1003; i++ {
		labels[i] = 2
		ev.Score, ev.Mass, ev.Weight = append(ev.Score, nan), append(ev.Mass, inf), append(ev.Weight, nan)
	}
	ev.Label = LabelsOf(labels)
	cfg.BackgroundLabel = []int32{0, 4}
	grad := make([]float64, 1003)
	loss, err := LossAndGrad(grad, ev, cfg)
	require.NoError(t, err)
	assert.Equal(t, want, loss)
	assert.Equal(t, append(all, 0, 0, 0), grad)
}

// Every error of DisCo is named, with the value and its place.
func TestDisCoErrors(t *testing.T) {
	type config = func(*Config)
	unbiased := func(c *Config) { c.Unbiased = true }
	short := func(n int) func(*Events[float64]) {
		return func(e *Events[float64]) { e.Score, e.Mass, e.Weight = e.Score[:n], e.Mass[:n], e.Weight[:n] }
	}
	fill := func(s []float64, value float64) {
		for i := range s {
			s[i] = value
		}
	}
	for _, test := range []struct {
		want   string
		kind   error
		events func(*Events[float64])
		config config
	}{
		{"score: all 20 selected events have the same score 0.5, so that DisCo is 0/0", ErrUndefined, func(e *Events[float64]) { fill(e.Score, 0.5) }, nil},
		{"mass: all 20 selected events have the same mass 91, so that DisCo is 0/0", ErrUndefined, func(e *Events[float64]) { fill(e.Mass, 91) }, nil},
		{"weight: the 20 selected events have sum of weights -40", ErrUndefined, func(e *Events[float64]) { fill(e.Weight, -2) }, nil},
		{"weight: the 20 selected events have sum of weights 0", ErrUndefined, func(e *Events[float64]) { fill(e.Weight, 0) }, nil},
		{"the means over 4 different events have a sum of weights of 0 times", ErrUndefined, func(e *Events[float64]) { fill(e.Weight[3:], 0) }, unbiased},
		{"mass: the distance variance of the 20 selected events is 0 times", ErrUndefined, func(e *Events[float64]) { fill(e.Weight[1:], 0) }, nil},
		{"score: the distance variance of the 20 selected events is ", ErrUndefined, func(e *Events[float64]) {
			fill(e.Score, 0.5)
			e.Score[7], e.Weight = 0.6, nil
		}, unbiased},
		{"1 selected events, and DisCo with unbiased = false needs at least 2", ErrNoEvents, short(1), nil},
		{"3 selected events, and DisCo with unbiased = true needs at least 4", ErrNoEvents, short(3), unbiased},
		{"mass is empty", ErrNoEvents, short(0), nil},
		{"score[3] = NaN", ErrNotFinite, func(e *Events[float64]) { e.Score[3] = nan }, nil},
		{"score[3] = +Inf", ErrNotFinite, func(e *Events[float64]) { e.Score[3] = inf }, nil},
		{"mass[4] = -Inf", ErrNotFinite, func(e *Events[float64]) { e.Mass[4] = -inf }, nil},
		{"weight[5] = NaN", ErrNotFinite, func(e *Events[float64]) { e.Weight[5] = nan }, nil},
		{"mass has length 19", ErrLength, func(e *Events[float64]) { e.Mass = e.Mass[1:] }, nil},
		{"mass: the selected events span", ErrOverflow, func(e *Events[float64]) { e.Mass[0], e.Mass[1] = -1e308, 1e308 }, nil},
		{"grad[", ErrOverflow, func(e *Events[float64]) {
			for i := range e.Score {
				e.Score[i] *= 1e-310
			}
		}, nil},
		{"score: the distance variance of the 20 selected events is ", ErrUndefined, func(e *Events[float64]) {
			e.Score[0], e.Weight[0] = 1e160, 0
		}, nil},
		{"background_label = [] must name", ErrOption, nil, func(c *Config) { c.BackgroundLabel = nil }},
	} {
		ev, cfg := manyEvents[float64](20, true), DefaultConfig(DisCo)
		if test.events != nil {
			test.events(&ev)
		}
		if test.config != nil {
			test.config(&cfg)
		}
		_, err := LossAndGrad(make([]float64, len(ev.Score)), ev, cfg)
		assert.ErrorIs(t, err, test.kind, test.want)
		assert.ErrorContains(t, err, test.want)
	}
}
