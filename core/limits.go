package core

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/lanes"
)

// unbounded returns the range of all numbers.
func unbounded() [2]float64 { return [2]float64{math.Inf(-1), math.Inf(1)} }

// outwards rounds a range outwards to the type of the events, if the type reaches its ends. So a mass or a score that equals
// a limit stays inside after both are rounded.
func outwards[T Float](r [2]float64) [2]float64 {
	if !lanes.IsFloat32[T]() {
		return r
	}
	lo, hi := float32(r[0]), float32(r[1])
	if float64(lo) > r[0] {
		lo = math.Nextafter32(lo, float32(math.Inf(-1)))
	}
	if float64(hi) < r[1] {
		hi = math.Nextafter32(hi, float32(math.Inf(1)))
	}
	if !events.IsFinite(float64(lo)) || !events.IsFinite(float64(hi)) {
		return r
	}
	return [2]float64{float64(lo), float64(hi)}
}
