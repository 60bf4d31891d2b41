package core

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/lanes"
)

// unbounded returns the range of all numbers.
func unbounded() [2]float64 { return [2]float64{math.Inf(-1), math.Inf(1)} }

func finite(x float64) bool { return x-x == 0 }

// roundedTo returns the configuration with limits in the type of the events. Limits are rounded outwards, so that a mass
// or a score that equals a limit stays inside after both are rounded.
func roundedTo[T Float](c Config) Config {
	if !lanes.IsFloat32[T]() {
		return c
	}
	c.MassRange, c.ScoreRange, c.Edges = outwards(c.MassRange), outwards(c.ScoreRange), outermost(c.Edges)
	c.Variables = slices.Clone(c.Variables)
	for k := range c.Variables {
		v := &c.Variables[k]
		v.MassRange, v.Edges = outwards(v.MassRange), outermost(v.Edges)
	}
	return c
}

// outermost returns edges of which the first and the last are rounded to float32, if they can be.
func outermost(edges []float64) []float64 {
	last := len(edges) - 1
	if last <= 0 {
		return edges
	}
	ends := outwards([2]float64{edges[0], edges[last]})
	edges = slices.Clone(edges)
	edges[0], edges[last] = ends[0], ends[1]
	return edges
}

// outwards rounds a range to float32, if float32 reaches its ends.
func outwards(r [2]float64) [2]float64 {
	lo, hi := float32(r[0]), float32(r[1])
	if float64(lo) > r[0] {
		lo = math.Nextafter32(lo, float32(math.Inf(-1)))
	}
	if float64(hi) < r[1] {
		hi = math.Nextafter32(hi, float32(math.Inf(1)))
	}
	if !finite(float64(lo)) || !finite(float64(hi)) {
		return r
	}
	return [2]float64{float64(lo), float64(hi)}
}
