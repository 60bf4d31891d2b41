package core

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/libmode/libmode/core/disco"
)

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
