package core

import (
	"errors"

	"github.com/libmode/libmode/core/disco"
)

// discoKinds are the errors of package disco as errors of this one.
var discoKinds = []struct{ of, is error }{
	{disco.ErrTooFew, ErrNoEvents}, {disco.ErrUndefined, ErrUndefined}, {disco.ErrOverflow, ErrOverflow},
}

// discoOfLabel returns the loss DisCo of mass and score, see package disco. Where scores or masses are all equal, it
// is 0/0: an error, since 0 would tell a training whose scores have collapsed that all is well.
func discoOfLabel[T Float](out derivatives[T], ev Events[T], index []uint32, cfg *Config, sc *scratch) (Result, error) {
	anywhere := *cfg
	anywhere.ScoreRange = unbounded()
	sel, err := selectEvents(ev, index, &anywhere, false, sc)
	if err != nil {
		return Result{}, err
	}
	mass, score, weight, places := make([]float64, 0, sel.n), make([]float64, 0, sel.n), []float64(nil), make([]uint32, 0, sel.n)
	for i := range sel.Score {
		if sel.takesPart(i) {
			mass, score, places = append(mass, float64(sel.Mass[i])), append(score, float64(sel.Score[i])), append(places, uint32(i))
			if sel.Weight != nil {
				weight = append(weight, float64(sel.Weight[i]))
			}
		}
	}
	var slope []float64
	grad := out.grad()
	if grad != nil {
		slope = make([]float64, sel.n)
	}
	loss, err := disco.OfEvents(nil, slope, mass, score, weight, cfg.Unbiased, disco.Words{X: "mass", Y: "score", Events: "selected events"})
	for _, kind := range discoKinds {
		if errors.Is(err, kind.of) {
			return Result{}, errorOf(kind.is, "%v", err)
		}
	}
	for k, i := range places {
		if grad != nil {
			grad[i] = T(slope[k])
		}
	}
	return Result{Loss: loss}, err
}
