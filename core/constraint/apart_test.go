package constraint_test

import (
	"testing"

	"github.com/libmode/libmode/core"
	"github.com/libmode/libmode/core/constraint"
	"github.com/stretchr/testify/require"
)

// A result in the place of an argument, or of another result, is an error that names both.
func TestDirectionOverArguments(t *testing.T) {
	ev, cfg := falling(64), core.DefaultConfig()
	ev.Weight = make([]float64, 64)
	room := func() []float64 { return make([]float64, 64) }
	shared := room()
	for want, given := range map[string][3][]float64{
		"push overlaps score":       {ev.Score, room(), room()},
		"multiplier overlaps mass":  {room(), ev.Mass, room()},
		"slope overlaps weight":     {room(), room(), ev.Weight},
		"multiplier overlaps push":  {shared, shared, room()},
		"slope overlaps multiplier": {room(), shared, shared},
	} {
		_, err := constraint.Direction(given[0], given[1], given[2], ev, cfg, constraint.Steering{})
		require.ErrorContains(t, err, want)
		require.ErrorIs(t, err, core.ErrLength)
	}
	state := make([]float64, constraint.StateSize(1, 0))
	_, err := constraint.Direction(state[8:72], room(), nil, ev, cfg, constraint.Steering{State: state})
	require.ErrorContains(t, err, "push overlaps state")
}
