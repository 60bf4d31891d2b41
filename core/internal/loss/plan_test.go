package loss

import (
	"math"
	"testing"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/stretchr/testify/require"
)

// By default cells of several variables have 8 events each, up to 8 bins a variable, and there are more cells than functions.
func TestDefaultCells(t *testing.T) {
	for _, c := range []struct{ variables, order, events, want int }{
		{2, 0, 10_000, 8}, {2, 0, 8 * 16, 4}, {2, 0, 8*16 - 1, 3}, {3, 0, 10_000, 8}, {3, 0, 8 * 27, 3}, {2, 0, 10, 2},
		{2, 3, 10, 4}, {2, 16, 10, 13}, {3, 2, 10, 3},
	} {
		p := Plan{Options: moments.Options{Order: c.order}, Masses: make([]bins.Options, c.variables)}
		ranges := [3][2]float64{{1, 2}, {3, 4}, {5, 6}}
		p.Masses[1].Edges, p.Masses[1].Kind = make([]float64, 6), bins.GivenEdges
		axes, number := p.axes(ranges, c.events)
		require.Equal(t, 5*math.Pow(float64(c.want), float64(c.variables-1)), number)
		require.Equal(t, []int{c.want, 5}, []int{axes[0].Asked, axes[1].Asked}, c)
		require.Equal(t, [][2]float64{{1, 2}, {}}, [][2]float64{axes[0].Mass, axes[1].Mass}, "the ends of given edges stay")
		require.Zero(t, p.Masses[0].Asked)
	}
}
