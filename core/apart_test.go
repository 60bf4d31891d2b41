package core

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// A gradient in the place of an argument, or of another result, is an error that names both, and nothing is written.
func TestResultsOverArguments(t *testing.T) {
	const n = 64
	events := func() (Events[float64], Config) {
		ev := Events[float64]{Score: make([]float64, n), Mass: make([]float64, n), Weight: make([]float64, n)}
		for i := range n {
			ev.Score[i], ev.Mass[i], ev.Weight[i] = float64(i*17%n)/n, float64(i), 1
		}
		cfg := DefaultConfig()
		cfg.Binning, cfg.Edges = GivenEdges, []float64{0, 20, 40, 63}
		return ev, cfg
	}
	for name, share := range map[string]func(ev *Events[float64], cfg *Config) []float64{
		"score":  func(ev *Events[float64], _ *Config) []float64 { return ev.Score },
		"mass":   func(ev *Events[float64], _ *Config) []float64 { return ev.Mass },
		"weight": func(ev *Events[float64], _ *Config) []float64 { return ev.Weight },
		"label": func(ev *Events[float64], _ *Config) []float64 {
			label := make([]float64, n)
			ev.Label = LabelsOf(label)
			return label
		},
		"category": func(ev *Events[float64], _ *Config) []float64 {
			category := make([]float64, n)
			ev.Category = LabelsOf(unsafe.Slice((*int64)(unsafe.Pointer(&category[0])), n))
			return category
		},
		"edges": func(_ *Events[float64], cfg *Config) []float64 {
			grad := make([]float64, n)
			cfg.Edges = grad[n-4:]
			copy(cfg.Edges, []float64{0, 20, 40, 63})
			return grad
		},
	} {
		ev, cfg := events()
		grad := share(&ev, &cfg)
		before := append([]float64(nil), grad...)
		for _, call := range []func() error{
			func() error { _, err := LossAndGrad(grad, ev, cfg); return err },
			func() error { _, err := Evaluate(grad, ev, cfg); return err },
			func() error { _, err := Curvature(make([]float64, n), grad, 0, ev, cfg); return err },
		} {
			err := call()
			require.ErrorIs(t, err, ErrLength, name)
			require.ErrorContains(t, err, "overlaps "+name+" in memory")
			require.Equal(t, before, grad)
		}
	}
	ev, cfg := events()
	room := make([]float64, 2*n)
	_, err := Curvature(room[:n], room[n-1:2*n-1], 0, ev, cfg)
	require.ErrorContains(t, err, "hess overlaps grad")
	_, err = Curvature(room[:n], room[n:], 0, ev, cfg)
	require.NoError(t, err, "neighbors do not overlap")
}
