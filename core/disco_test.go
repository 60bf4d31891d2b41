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
