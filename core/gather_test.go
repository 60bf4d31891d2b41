package core

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// labeled returns events with labels 0, 1 and 2 in random order, and the places of each.
func labeled(n int, weighted bool) (Events[float32], [3][]int) {
	ev := spreadEvents[float32](n, weighted, 0.1)
	labels := make([]int32, n)
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	var places [3][]int
	for i := range labels {
		label := rng.IntN(3)
		labels[i] = int32(label)
		places[label] = append(places[label], i)
	}
	ev.Label = LabelsOf(labels)
	return ev, places
}

// alone returns the events at these places, without labels and categories.
func alone[T Float](ev Events[T], places []int) Events[T] {
	var of Events[T]
	for _, i := range places {
		of.Score, of.Mass = append(of.Score, ev.Score[i]), append(of.Mass, ev.Mass[i])
		if ev.Weight != nil {
			of.Weight = append(of.Weight, ev.Weight[i])
		}
	}
	return of
}

// Errors name the place in the input, not that among the events of the label.
func TestPlacesAreThoseOfTheInput(t *testing.T) {
	for _, n := range []int{1_000, 100_000} {
		for name, spoil := range map[string]func(*Events[float32], int){
			"score":  func(ev *Events[float32], i int) { ev.Score[i] = float32(nan) },
			"mass":   func(ev *Events[float32], i int) { ev.Mass[i] = float32(inf) },
			"weight": func(ev *Events[float32], i int) { ev.Weight[i] = float32(nan) },
		} {
			ev, places := labeled(n, true)
			at := places[0][len(places[0])*2/3]
			spoil(&ev, at)
			_, err := Loss(ev, paperConfig())
			assert.ErrorContains(t, err, fmt.Sprintf("%s[%d] = ", name, at))
			_, err = Loss(ev, DefaultConfig(DisCo))
			assert.ErrorContains(t, err, fmt.Sprintf("%s[%d] = ", name, at))
		}
	}
}

// Weights that are all the same are no weights, whatever they are, also where events that
// take no part have others.
func TestEqualWeights(t *testing.T) {
	for name, change := range walkOptions {
		cfg := paperConfig()
		change(&cfg)
		cfg.MassRange = [2]float64{50, 200}
		ev := spreadEvents[float64](20_000, false, 0.1)
		want, got := make([]float64, len(ev.Score)), make([]float64, len(ev.Score))
		without, err := LossAndGrad(want, ev, cfg)
		require.NoError(t, err)
		ev.Weight = make([]float64, len(ev.Score))
		for i, m := range ev.Mass {
			ev.Weight[i] = 1e-200
			if m > 200 {
				ev.Weight[i] = -3
			}
		}
		with, err := LossAndGrad(got, ev, cfg)
		require.NoError(t, err)
		assert.Equal(t, without, with, name)
		assert.Equal(t, want, got, name)
		ev.Weight[0] *= 2
		with, err = LossAndGrad(got, ev, cfg)
		require.NoError(t, err)
		assert.NotEqual(t, without, with, name)
	}
}
