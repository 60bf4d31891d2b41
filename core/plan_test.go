package core

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Limits are rounded outwards by at most one step of float32, and not at all where float32 holds them or cannot reach them.
func TestLimitsAreRoundedOutwards(t *testing.T) {
	for _, r := range [][2]float64{{0.1, 0.3}, {-0.3, -0.1}, {1 - 1e-12, 1 + 1e-12}} {
		found := outwards(r)
		for k, sign := range []float64{-1, 1} {
			require.Equal(t, found[k], float64(float32(found[k])))
			require.Positive(t, sign*(found[k]-r[k]))
			require.Less(t, math.Abs(found[k]-r[k]), 0x1p-23*math.Abs(r[k]))
		}
	}
	for _, r := range [][2]float64{{0.25, 0.5}, noRange, {0.1, 1e300}} {
		require.Equal(t, r, outwards(r))
	}
}

// Masses on an inner edge are above it, in float32 as in float64, one by one and jointly.
func TestMassesOnInnerEdges(t *testing.T) {
	var ev Events[float64]
	for i := range 200 {
		m := float64(1+i%10) / 10
		ev.Score, ev.Mass = append(ev.Score, float64(i*37%200)/200*m), append(ev.Mass, m)
	}
	single := Events[float32]{Score: convert[float32](ev.Score), Mass: convert[float32](ev.Mass)}
	cfg := DefaultConfig()
	cfg.Binning, cfg.Edges = GivenEdges, []float64{0.1, 0.3, 0.6, 0.7, 0.9, 1.0}
	want, err := Loss(ev, cfg)
	require.NoError(t, err)
	got, err := Loss(single, cfg)
	require.NoError(t, err)
	require.InEpsilon(t, want, got, 1e-5)
	table, err := MomentsAt([]float64{1}, single, cfg)
	require.NoError(t, err)
	require.Equal(t, []float64{float64(float32(0.3)), float64(float32(0.6))}, table.Edges[1:3])

	cfg.Edges, cfg.Variables, cfg.Joint = nil, []Variable{{MassRange: noRange, Edges: cfg.Edges}, {MassRange: noRange, Edges: cfg.Edges}}, true
	ev.Masses, ev.Mass, single.Masses, single.Mass = [][]float64{ev.Mass, ev.Mass}, nil, [][]float32{single.Mass, single.Mass}, nil
	want, err = Loss(ev, cfg)
	require.NoError(t, err)
	got, err = Loss(single, cfg)
	require.NoError(t, err)
	require.InEpsilon(t, want, got, 1e-5)

	cfg = DefaultConfig()
	cfg.Binning, cfg.Edges = GivenEdges, []float64{0, 1, 1 + 1e-9, 2}
	_, err = Loss(Events[float32]{Score: single.Score, Mass: single.Masses[0]}, cfg)
	require.ErrorIs(t, err, ErrOption)
	require.ErrorContains(t, err, "edges[2] = 1.000000001 is the same number in float32 as the edge before it")
}
