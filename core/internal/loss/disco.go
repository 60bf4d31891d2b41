package loss

import (
	"math"

	"github.com/libmode/libmode/core/disco"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/walk"
)

// disco returns the distance correlation of mass and score, see package disco. If all scores or all masses are equal, it is
// 0/0. That is an error, since a value of 0 would hide the collapsed scores of a training.
func (pt part[T]) disco(k int) (walk.Result, error) {
	limits := pt.plan.Variables[k].Limits
	limits.Score = [2]float64{math.Inf(-1), math.Inf(1)}
	sel, err := events.Select(pt.ev, pt.index, nil, limits, pt.sc)
	if err != nil {
		return walk.Result{}, err
	}
	mass, score, places := make([]T, 0, sel.N), make([]T, 0, sel.N), make([]uint32, 0, sel.N)
	var weight, slope []T
	for i := range sel.Score {
		if sel.TakesPart(i) {
			mass, score, places = append(mass, sel.Mass[i]), append(score, sel.Score[i]), append(places, uint32(i))
			if sel.Weight != nil {
				weight = append(weight, sel.Weight[i])
			}
		}
	}
	grad := pt.out.Grad()
	if grad != nil {
		slope = make([]T, len(places))
	}
	words := disco.Words{X: "mass", Y: "score", Events: "selected events"}
	loss, err := disco.OfEvents(nil, slope, mass, score, weight, pt.plan.Walk.Moments.Unbiased, words)
	for j, element := range slope {
		grad[places[j]] = element
	}
	return walk.Result{Loss: loss}, err
}
