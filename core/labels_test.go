package core

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// sameAs asks for the loss and the gradient of the labels of the type int32.
func sameAs[L Label](t *testing.T, ev Events[float32], labels []int32, of func(int32) L, cfg Config) {
	t.Helper()
	given, want, grad := make([]L, len(labels)), make([]float32, len(labels)), make([]float32, len(labels))
	for i, label := range labels {
		given[i] = of(label)
	}
	ev.Label = LabelsOf(labels)
	loss, err := LossAndGrad(want, ev, cfg)
	require.NoError(t, err)
	ev.Label = LabelsOf(given)
	again, err := LossAndGrad(grad, ev, cfg)
	require.NoError(t, err)
	require.Equal(t, loss, again)
	require.Equal(t, want, grad)
}

// A label is what it is as a number, whatever its type; 2 stands for a label that is near 0 or
// 1 in another type, and must not be taken for it.
func TestLabelsOfEveryType(t *testing.T) {
	defer SetThreads(0)
	SetThreads(3)
	for _, n := range []int{1_000, 150_001} { // in one part and in several
		ev := spreadEvents[float32](n, true, 0.1)
		for _, wanted := range [][]int32{{0}, {1}, {1, 0}, {10_000_000, 0}} { // the last two lie far apart
			cfg, labels := paperConfig(), make([]int32, n)
			cfg.Bins, cfg.BackgroundLabel = 4, wanted
			for i := range labels {
				labels[i] = []int32{0, max(1, wanted[0]), 2}[(i*7+i/5)%3]
			}
			for _, other := range []float64{nan, inf, -inf, 0.5, 1 << 32, 1<<32 + 1, 1 << 63, -1 << 63, 5e-324} {
				sameAs(t, ev, labels, func(label int32) float64 {
					if label == 2 {
						return other
					}
					return float64(label)
				}, cfg)
			}
			sameAs(t, ev, labels, func(label int32) int64 { return int64(label) + int64(label&2)<<32 }, cfg)
			sameAs(t, ev, labels, func(label int32) float32 { return float32(label) }, cfg)
			if wanted[0] <= 1 {
				sameAs(t, ev, labels, func(label int32) int8 { return int8(label) }, cfg)
				sameAs(t, ev, labels, func(label int32) uint8 { return uint8(label) }, cfg)
			}
		}
	}
}

// A label that no number of the type is, is no label of any event: it is not rounded to one.
func TestLabelBeyondTheType(t *testing.T) {
	for _, of := range []struct {
		labels LabelSlice
		wanted []int32
	}{
		{LabelsOf(slices.Repeat([]int8{0}, 64)), []int32{256}},
		{LabelsOf(slices.Repeat([]int8{0}, 64)), []int32{0, 256}},
		{LabelsOf(slices.Repeat([]uint8{255}, 64)), []int32{-1}},
		{LabelsOf(slices.Repeat([]float32{1 << 24}, 64)), []int32{1 << 24, 1<<24 + 1}},
		{LabelsOf(slices.Repeat([]float32{1 << 31}, 64)), []int32{math.MaxInt32}},
		{LabelsOf(slices.Repeat([]float32{1 << 31}, 64)), []int32{math.MinInt32}},
	} {
		ev, cfg := spreadEvents[float32](64, false, 0), paperConfig()
		ev.Label, cfg.Bins, cfg.BackgroundLabel = of.labels, 4, of.wanted
		_, err := Loss(ev, cfg)
		require.ErrorIs(t, err, ErrNoEvents)
		require.ErrorContains(t, err, fmt.Sprintf("background_label = %d", of.wanted[len(of.wanted)-1]))
	}
}
