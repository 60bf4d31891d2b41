package constraint

import (
	"errors"
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
)

// mostBins is the highest number of bins of the push if Config has none: fewer than for the loss, with less noise in each batch. With
// 32 bins the zoo's response is less flat.
const mostBins = 24

// measured is a subset of a division with its loss, the bins of the push, and its gradient in them.
type measured[T events.Float] struct {
	events.Subset
	events events.Events[T]
	index  []uint32 // the places of the events in the input; nil: they are the input
	result loss.Result
	prs    []*loss.Prepared[T]
	grad   []T // in order of the records of the only variable, or of the events of several
}

// choose leaves out the events without a weight or without a bin, and their elements of the gradient. It returns the others and their
// largest weight.
func (m *measured[T]) choose(all []uint32, grad []T) (chosen []uint32, largest float64) {
	chosen = all[:0]
	for k, i := range all {
		weight := 1.0
		if m.events.Weight != nil {
			weight = math.Abs(float64(m.events.Weight[i]))
		}
		if weight != 0 && slices.ContainsFunc(m.prs, func(pr *loss.Prepared[T]) bool { return pr.HasBin(int(i)) }) {
			grad[len(chosen)] = grad[k]
			chosen, largest = append(chosen, i), max(largest, weight)
		}
	}
	return chosen, largest
}

// measure returns the subsets of a division that have a loss, with their shares in the loss. If it spares, subsets without a loss are
// left out, unless their label has no other. Otherwise they are an error. If the gradient is free, no option bounds its moments.
func measure[T events.Float](di *events.Division[T], p *loss.Plan, free, spares bool, sc *par.Scratch) ([]measured[T], error) {
	all := make([]measured[T], len(di.Subsets))
	failures := di.Each(sc, spares, func(k int, sc *par.Scratch) error {
		all[k].events, all[k].index = di.Subset(k)
		return all[k].measure(p, free, sc)
	})
	left, lost := *di, make(map[int]error) // lost: the first error of each label
	left.Subsets = nil
	var kept []measured[T]
	for k, err := range failures {
		label := di.Subsets[k].Label
		if err == nil {
			left.Subsets, kept = append(left.Subsets, di.Subsets[k]), append(kept, all[k])
		} else if err := di.Named(k, p.BackgroundLabel, err); !spares || !errors.Is(err, errs.ErrNoEvents) && !errors.Is(err, errs.ErrBin) {
			return nil, err
		} else if lost[label] == nil {
			lost[label] = err
		}
	}
	for label := range di.Labels {
		has := func(su events.Subset) bool { return su.Label == label }
		if err := lost[label]; err != nil && !slices.ContainsFunc(left.Subsets, has) {
			return nil, err
		}
	}
	if err := left.SetFactors(p.BackgroundLabel); err != nil {
		return nil, err
	}
	for k := range kept {
		kept[k].Subset = left.Subsets[k]
		m := &kept[k]
		if i := events.FirstNotFinite(m.grad); i >= 0 {
			if len(m.prs) == 1 {
				i = m.prs[0].Order().Index(m.prs[0].Order().Words[i])
			}
			return nil, events.Overflow("grad", di.Place(i+m.Lo))
		}
	}
	return kept, nil
}

// measure finds the loss of events, and the gradient in fewer bins. The bins of the loss may do where fewer do not, and their error is
// the error of the loss.
func (m *measured[T]) measure(p *loss.Plan, free bool, sc *par.Scratch) (err error) {
	if m.prs, err = loss.Prepare(m.events, m.index, p, sc); err != nil {
		return err
	}
	m.prs[0].Sorted = len(m.prs) == 1
	all, fewer, enough := slices.Clone(m.prs), slices.Clone(m.prs), true
	for k, pr := range m.prs {
		few, err := pr.AtMost(mostBins, sc)
		if err != nil {
			few, enough = pr, false
		}
		fewer[k] = few
		if free {
			all[k], fewer[k] = pr.Unbounded(), few.Unbounded()
		}
	}
	if !enough {
		fewer = all
	}
	m.grad = par.Make[T](&sc.Arena, len(m.events.Score))
	wanted := events.Derivatives[T]{m.grad}
	if slices.Equal(fewer, m.prs) {
		m.result, err = loss.Integrate(wanted, m.prs, true, sc)
		return err
	}
	if m.result, err = loss.Integrate(events.Derivatives[T]{}, m.prs, true, sc); err != nil {
		return err
	}
	if _, err := loss.Integrate(wanted, fewer, false, sc); err == nil {
		m.prs = fewer
		return nil
	}
	clear(m.grad)
	m.prs = all
	_, err = loss.Integrate(wanted, m.prs, false, sc)
	return err
}
