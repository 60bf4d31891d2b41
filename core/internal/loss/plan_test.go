package loss

import (
	"math"
	"testing"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/config"
	"github.com/stretchr/testify/require"
)

// By default cells of several variables have 8 events each, up to 8 bins a variable, and there are more cells than functions.
func TestDefaultCells(t *testing.T) {
	for _, c := range []struct{ variables, order, events, want int }{
		{2, 0, 10_000, 8}, {2, 0, 8 * 16, 4}, {2, 0, 8*16 - 1, 3}, {3, 0, 10_000, 8}, {3, 0, 8 * 27, 3}, {2, 0, 10, 2},
		{2, 3, 10, 4}, {2, 16, 10, 13}, {3, 2, 10, 3},
	} {
		p := Plan{Config: config.Config{Order: c.order}, Masses: make([]bins.Options, c.variables)}
		ranges := [3][2]float64{{1, 2}, {3, 4}, {5, 6}}
		p.Masses[1].Asked, p.Masses[1].Kind = 5, config.GivenEdges
		axes := p.axes(ranges, c.events)
		require.Equal(t, []int{c.want, 5}, []int{axes[0].Asked, axes[1].Asked}, c)
		require.Equal(t, [][2]float64{{1, 2}, {}}, [][2]float64{axes[0].Mass, axes[1].Mass}, "the ends of given edges stay")
		require.Zero(t, p.Masses[0].Asked)
	}
}

// Limits are rounded outwards by at most one step of float32, and not at all where float32 holds them or cannot reach them.
func TestLimitsAreRoundedOutwards(t *testing.T) {
	for _, r := range [][2]float64{{0.1, 0.3}, {-0.3, -0.1}, {1 - 1e-12, 1 + 1e-12}} {
		found := outwards[float32](r)
		require.Equal(t, r, outwards[float64](r))
		for k, sign := range []float64{-1, 1} {
			require.Equal(t, found[k], float64(float32(found[k])))
			require.Positive(t, sign*(found[k]-r[k]))
			require.Less(t, math.Abs(found[k]-r[k]), 0x1p-23*math.Abs(r[k]))
		}
	}
	for _, r := range [][2]float64{{0.25, 0.5}, config.Unbounded(), {0.1, 1e300}} {
		require.Equal(t, r, outwards[float32](r))
	}
}
