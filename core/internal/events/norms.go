package events

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// leastDistance is the least 1 - s of an event, since a single event of background with a score near 1 would rule otherwise.
const leastDistance = 0.01

// Norms returns two norms over the first events, one for each element of grad: of the gradient of their mean cross entropy by the
// scores of background, w/(1 - s) over the number of events, and of grad.
func (ev *Events[T]) Norms(grad []T, background []int32) (entropy, gradient float64) {
	const size = 1 << 10
	var chosen [size]uint32
	var push [size]float64
	for lo := 0; lo < len(grad); lo += size {
		block := grad[lo:min(lo+size, len(grad))]
		places, pushes := chosen[:len(block)], push[:len(block)]
		if ev.Label != nil {
			ev.Label.find(places, lo, background)
		}
		for i, s := range ev.Score[lo:][:len(pushes)] {
			// 1 for background, else 0: a branch on labels in no order takes longer than the rest.
			pushes[i] = float64(1-places[i]>>31) / max(1-float64(s), leastDistance)
		}
		if ev.Weight != nil {
			for i, w := range ev.Weight[lo:][:len(pushes)] {
				pushes[i] *= float64(w)
			}
		}
		entropy += floats.Dot(pushes, pushes)
		for i, derivative := range block {
			pushes[i] = float64(derivative)
		}
		gradient += floats.Dot(pushes, pushes)
	}
	return math.Sqrt(entropy) / float64(max(len(grad), 1)), math.Sqrt(gradient)
}
