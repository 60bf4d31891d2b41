package constraint

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/sorted"
	"gonum.org/v1/gonum/floats"
)

// leaveOut leaves out the events without a weight, and those whose mass is outside the limits: of all variables, or jointly of one.
func (g *group[T]) leaveOut(sc *par.Scratch) error {
	masses := g.Variables()
	takesPart := func(i int) bool {
		if g.Weight != nil && g.Weight[i] == 0 {
			return false
		}
		for v, mass := range masses {
			if limits := &g.plan.Masses[v].Mass; (float64(mass[i]) >= limits[0] && float64(mass[i]) <= limits[1]) != g.plan.Joint {
				return !g.plan.Joint
			}
		}
		return g.plan.Joint
	}
	chosen := make([]uint32, 0, len(g.Score))
	for i := range g.Score {
		if takesPart(i) {
			chosen = append(chosen, uint32(i))
		}
	}
	if len(chosen) == len(g.Score) { // the loss looks for bad numbers
		return nil
	}
	for v, mass := range masses {
		if err := events.Check(events.Events[T]{Score: g.Score, Mass: mass, Weight: g.Weight}, g.Index, g.plan.Masses[v].Limits); err != nil {
			return err
		}
	}
	g.Events = g.Chosen(chosen, sc)
	for k, i := range chosen {
		chosen[k] = uint32(g.Place(int(i)))
	}
	g.Index = chosen
	return nil
}

// leastRank is the number of events of a batch whose part of all counts as the least q (1 - q).
const leastRank = 3

// leastPush is the least |u| of events with one as the sum of their squared weights, relative to it. A smaller direction is rounding,
// as with order + 1 bins, where the fit is exact.
const leastPush = 1e-12

// push returns u, and takes its norm over the pushed events into the lesson. u are the derivatives of the loss of the ranks, times 1/sqrt(q (1 - q)). These derivatives follow from the order of the scores,
// so they are those by the scores. With the factor each working point counts by its significance, since the noise of a residual is in
// proportion to sqrt(q (1 - q)). Too few events for the bins of the loss get fewer bins; nil: they are too few for any.
func (g *group[T]) push(sc *par.Scratch) ([]float64, error) {
	grad, p := par.Unset[T](&sc.Arena, len(g.Score)), g.plan
	order, err := g.differentiate(grad, p, sc)
	if errors.Is(err, errs.ErrBin) || errors.Is(err, errs.ErrNoEvents) {
		for few := err; err != nil; order, err = g.differentiate(grad, p, sc) {
			if p = fewerBins(p); p == nil {
				g.few = few
				return nil, nil
			}
		}
	}
	if err != nil {
		return nil, err
	}
	inOrder := order != nil // the derivatives are in order of score
	if !inOrder {
		order = sorted.Values(g.Score, sc)
	}
	n, unit := len(order), events.UnitOfWeights(g.Weight)
	sizes := par.Unset[float64](&sc.Arena, n) // |w|
	for k, i := range order {
		if sizes[k] = 1; g.Weight != nil {
			sizes[k] = math.Abs(float64(g.Weight[i])) * unit
		}
	}
	total, below, least, square := floats.Sum(sizes), 0.0, leastRank/float64(n), 0.0
	u := par.Unset[float64](&sc.Arena, len(g.Score))
	for lo, hi := 0, 0; lo < n; lo = hi {
		tied, score := 0.0, g.Score[order[lo]]
		for hi = lo; hi < n && g.Score[order[hi]] == score; hi++ {
			tied += sizes[hi]
		}
		q := (below + tied/2) / total
		factor := 1 / math.Sqrt(max(q*(1-q), least))
		for k, i := range order[lo:hi] {
			if k += lo; !inOrder {
				k = int(i)
			}
			if u[i] = float64(grad[k]) * factor; g.Place(int(i)) < g.Batch {
				square += u[i] * u[i]
				g.taught.seen++
			}
		}
		below += tied
	}
	if norm := math.Sqrt(square); norm*total > leastPush*floats.Norm(sizes, 2) {
		g.taught.push, g.taught.batches = norm, 1
	}
	return u, nil
}

// differentiate sets the derivatives of the loss. If there is one variable of mass, they are in order of score, and it returns this order.
func (g *group[T]) differentiate(grad []T, p *loss.Plan, sc *par.Scratch) (order []uint32, err error) {
	prs, err := loss.Prepare(g.Events, g.Index, p, sc)
	if err != nil {
		return nil, err
	}
	if prs[0].Sorted = len(p.Masses) == 1; prs[0].Sorted {
		order = prs[0].Order(sc)
	}
	_, err = loss.Integrate(events.Derivatives[T]{Grad: grad}, prs, false, sc)
	return order, err
}

// fewerBins returns a plan with fewer bins than one that has events for too few; nil: there is none.
func fewerBins(p *loss.Plan) *loss.Plan {
	fewer := *p
	fewer.Masses = slices.Clone(p.Masses)
	for k := range fewer.Masses {
		o := &fewer.Masses[k]
		most := o.Asked
		if o.Kind == bins.GivenEdges {
			most = len(o.Edges) - 1
		}
		if o.Merges() && !p.Joint || most == 1 {
			return nil
		}
		if o.Kind, o.Asked, o.Most = bins.Quantile, 0, most; p.Joint {
			o.Asked = cmp.Or(most, mostOfJoint) / 2
		}
	}
	return &fewer
}

// mostOfJoint is the default number of bins of each of several variables together.
const mostOfJoint = 8
