package events

import "math"

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
			distance := 1 - float64(s)
			if distance < leastDistance {
				distance = leastDistance
			}
			// 1 for background, else 0: a branch on labels in no order takes longer than the rest.
			pushes[i] = float64(1-places[i]>>31) / distance
		}
		if ev.Weight != nil {
			for i, w := range ev.Weight[lo:][:len(pushes)] {
				pushes[i] *= float64(w)
			}
		}
		entropy += sumOfSquares(pushes)
		gradient += sumOfSquares(block)
	}
	return math.Sqrt(entropy) / float64(max(len(grad), 1)), math.Sqrt(gradient)
}

// sumOfSquares adds in four sums, since an addition waits for the one before.
func sumOfSquares[T Float](values []T) float64 {
	var a, b, c, d float64
	i := 0
	for ; i+4 <= len(values); i += 4 {
		v := values[i : i+4 : i+4]
		a += float64(v[0]) * float64(v[0])
		b += float64(v[1]) * float64(v[1])
		c += float64(v[2]) * float64(v[2])
		d += float64(v[3]) * float64(v[3])
	}
	for ; i < len(values); i++ {
		a += float64(values[i]) * float64(values[i])
	}
	return a + b + (c + d)
}
