package constraint

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/events"
)

// tracked is the number of masses by which a sample is known again.
const tracked = 64

// sample tells how many different events the batches of one part have had. It keeps some masses of the first batch and counts how
// often they come: once in each epoch.
type sample []float64

// The numbers of a sample. From marks on there are the masses, in increasing order.
const (
	seen      = iota // events of all batches
	sightings        // of the masses; -1 if the mass is known to repeat among different events
	marks
)

// see takes the masses of a batch into the sample.
func see[T events.Float](sa sample, masses []T) {
	present := make([]float64, 0, len(masses))
	for _, m := range masses {
		if m == m {
			present = append(present, float64(m))
		}
	}
	first := sa[seen] == 0 && len(present) > 0
	if first {
		sorted := slices.Sorted(slices.Values(present))
		for k := range tracked {
			sa[marks+k] = sorted[(2*k+1)*len(sorted)/(2*tracked)]
		}
	}
	sa[seen] += float64(len(present))
	if sa[sightings] < 0 {
		return
	}
	for _, m := range present {
		if _, found := slices.BinarySearch(sa[marks:], m); found {
			sa[sightings]++
		}
	}
	if first && sa[sightings] > 1.5*sa.marked() {
		sa[sightings] = -1
	}
}

// size returns the estimate of the number of different events: Inf if the masses repeat among different events, or none of them came back.
func (sa sample) size() float64 {
	if sa[sightings] <= 0 {
		return math.Inf(1)
	}
	return sa[seen] * sa.marked() / sa[sightings]
}

// marked returns the number of different masses that are tracked: fewer than tracked after a first batch of few events.
func (sa sample) marked() float64 { return float64(len(slices.Compact(slices.Clone(sa[marks:])))) }
