//go:build !race

package core

import (
	"fmt"
	"math"
	"testing"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/stretchr/testify/require"
)

// A loss and its derivatives have the same bits with vector instructions and without.
func TestVectorsReturnTheSameBits(t *testing.T) {
	if !lanes.Vectors(true) {
		t.Log("no vector instructions here")
	}
	defer lanes.Vectors(true)
	for name, change := range walkOptions {
		for _, n := range []int{40, 511, 513, 3_000, 70_000} {
			for _, weighted := range []bool{false, true} {
				cfg := paperConfig()
				cfg.Bins = 5
				change(&cfg)
				requireSameBits(t, fmt.Sprint(name, ", ", n, weighted), positive(spreadEvents[float64](n, weighted, 0.1)), cfg)
				ev := spreadEvents[float32](n, weighted, 0.1)
				for i, w := range ev.Weight {
					ev.Weight[i] = 0.1 + max(w, -w)
				}
				requireSameBits(t, fmt.Sprint(name, ", float32, ", n, weighted), ev, cfg)
			}
		}
	}
}

func requireSameBits[T Float](t *testing.T, name string, ev Events[T], cfg Config) {
	t.Helper()
	n := len(ev.Score)
	call := func(vectors bool) []uint64 {
		lanes.Vectors(vectors)
		grad, hess := make([]T, n), make([]T, n)
		found, err := Curvature(grad, hess, 0, ev, cfg)
		require.NoError(t, err, name)
		bits := []uint64{math.Float64bits(found.Loss), math.Float64bits(found.Bias), math.Float64bits(found.Events)}
		for i := range grad {
			bits = append(bits, math.Float64bits(float64(grad[i])), math.Float64bits(float64(hess[i])))
		}
		return bits
	}
	require.Equal(t, call(false), call(true), name)
}
