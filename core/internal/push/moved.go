package push

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
)

// Moved holds the background events that take part, group by group: they have a weight that is not 0, and a mass inside its
// limits.
type Moved[T events.Float] struct {
	labels            []int // of each group
	from              []int // where each group begins, and the end
	place             []uint32
	score             []T
	masses            [][]T // NaN where an event takes no part for the variable
	weight, direction []float64
}

// Collect returns the events that take part, with the gradient as direction. If the
// division has no Index, it is the input.
func Collect[T events.Float](di *events.Division[T], grad []T, limits [][2]float64, joint bool) *Moved[T] {
	ev, all := &di.Events, di.Events.Variables()
	mv := &Moved[T]{masses: make([][]T, len(all)), from: []int{0}}
	for _, su := range di.Subsets {
		for i := su.Lo; i < su.Hi; i++ {
			w, present, values := 1.0, 0, [events.MaxVariables]T{}
			if ev.Weight != nil {
				w = float64(ev.Weight[i])
			}
			for v, mass := range all {
				values[v] = T(math.NaN())
				if m := float64(mass[i]); m >= limits[v][0] && m <= limits[v][1] {
					values[v] = mass[i]
					present++
				}
			}
			if w == 0 || present == 0 || joint && present < len(all) {
				continue
			}
			for v := range all {
				mv.masses[v] = append(mv.masses[v], values[v])
			}
			at := uint32(i)
			if di.Index != nil {
				at = di.Index[i]
			}
			mv.place, mv.score, mv.weight = append(mv.place, at), append(mv.score, ev.Score[i]), append(mv.weight, w)
			mv.direction = append(mv.direction, float64(grad[at]))
		}
		if last := len(mv.place); last > mv.from[len(mv.from)-1] {
			mv.labels, mv.from = append(mv.labels, su.Label), append(mv.from, last)
		}
	}
	return mv
}

// groups returns the group of each label and category.
func (mv *Moved[T]) groups() []group {
	groups := make([]group, len(mv.labels))
	for k, label := range mv.labels {
		lo, hi := mv.from[k], mv.from[k+1]
		masses := make([][]T, len(mv.masses))
		for v, mass := range mv.masses {
			masses[v] = mass[lo:hi]
		}
		groups[k] = newGroup(label, mv.score[lo:hi], masses, mv.weight[lo:hi])
	}
	return groups
}

// spread returns the standard deviation of the logits: that of the scores, over their mean slope.
func (mv *Moved[T]) spread(slope func(score float64) float64) float64 {
	var mean, slopes, squares float64
	n := float64(len(mv.score))
	for i, s := range mv.score {
		size := math.Abs(mv.weight[i]) / n
		mean += size * float64(s)
		slopes += size * slope(float64(s))
	}
	for i, s := range mv.score {
		squares += math.Abs(mv.weight[i]) / n * (float64(s) - mean) * (float64(s) - mean)
	}
	return math.Sqrt(squares) / slopes
}
