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
