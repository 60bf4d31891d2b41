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
	var ofEntropy, ofGradient norm
	for lo := 0; lo < len(grad); lo += size {
		block := grad[lo:min(lo+size, len(grad))]
		places, pushes := chosen[:len(block)], push[:len(block)]
		if ev.Label != nil {
			ev.Label.find(places, lo, background)
		}
		for i, s := range ev.Score[lo:][:len(pushes)] {
			pushes[i] = 1 / max(1-float64(s), leastDistance)
		}
		if ev.Weight != nil {
			for i, w := range ev.Weight[lo:][:len(pushes)] {
				pushes[i] *= float64(w)
			}
		}
		for i, place := range places { // 0 for other labels, whatever their numbers are: a branch on labels in no order takes longer
			pushes[i] = math.Float64frombits(math.Float64bits(pushes[i]) & (uint64(place>>31) - 1))
		}
		ofEntropy.add(pushes)
		for i, derivative := range block {
			pushes[i] = float64(derivative)
		}
		ofGradient.add(pushes)
	}
	return ofEntropy.root() / float64(max(len(grad), 1)), ofGradient.root()
}

// Selected returns how many of the first n events have a label of the background.
func (ev *Events[T]) Selected(n int, background []int32) int {
	if ev.Label == nil {
		return n
	}
	var chosen [1 << 10]uint32
	count := 0
	for lo := 0; lo < n; lo += len(chosen) {
		places := chosen[:min(len(chosen), n-lo)]
		ev.Label.find(places, lo, background)
		for _, place := range places {
			count += int(1 - place>>31)
		}
	}
	return count
}

// norm is a sum of squares in a unit, a power of two in which none overflows or counts as 0 beside smaller ones.
type norm struct{ squares, unit float64 }

// add adds the squares of numbers, and overwrites these.
func (n *norm) add(numbers []float64) {
	largest := 0.0
	for _, x := range numbers {
		largest = max(largest, math.Abs(x))
	}
	if largest == 0 {
		return
	}
	if unit := UnitOf(largest); n.unit == 0 {
		n.unit = unit
	} else if unit < n.unit {
		n.squares *= unit / n.unit * (unit / n.unit)
		n.unit = unit
	}
	floats.Scale(n.unit, numbers)
	n.squares += floats.Dot(numbers, numbers)
}

// root returns the root of the sum.
func (n *norm) root() float64 {
	if n.unit == 0 {
		return 0
	}
	return math.Sqrt(n.squares) / n.unit
}
