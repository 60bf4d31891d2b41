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
)

// group has the events of one label and category.
type group[T events.Float] struct {
	*events.Subset[T]
	cell []uint8   // of all masses together, for planing, or none
	push []float64 // u; nil: the events are too few for bins
	few  error     // says so
}

// size returns |w| of event i, in units of the largest.
func (g *group[T]) size(i int, unit float64) float64 {
	if g.Weight == nil {
		return 1
	}
	return math.Abs(float64(g.Weight[i])) * unit
}

// leaveOut leaves out the events without a weight, and those whose mass is outside the limits: of all variables, or jointly of one.
func (g *group[T]) leaveOut(p *loss.Plan, sc *par.Scratch) error {
	var chosen []uint32
	masses := g.Variables()
	takesPart := func(i int) bool {
		if g.Weight != nil && g.Weight[i] == 0 {
			return false
		}
		for v, mass := range masses {
			if limits := &p.Masses[v].Mass; (float64(mass[i]) >= limits[0] && float64(mass[i]) <= limits[1]) != p.Joint {
				return !p.Joint
			}
		}
		return p.Joint
	}
	first := 0
	for first < len(g.Score) && takesPart(first) {
		first++
	}
	if first == len(g.Score) { // the loss looks for bad numbers
		return nil
	}
	for v, mass := range masses {
		if err := events.Check(events.Events[T]{Score: g.Score, Mass: mass, Weight: g.Weight}, g.Index, p.Masses[v].Limits); err != nil {
			return err
		}
	}
	for i := range g.Score {
		if takesPart(i) {
			chosen = append(chosen, uint32(i))
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

// setPush sets u, the derivatives of the loss of the ranks times 1/sqrt(q (1 - q)). These derivatives follow from the order of the scores,
// so they are those by the scores. With the factor each working point counts by its significance, since the noise of a residual is in
// proportion to sqrt(q (1 - q)). Too few events for the bins of the loss get fewer bins.
func (g *group[T]) setPush(p *loss.Plan, sc *par.Scratch) error {
	grad := par.Make[T](&sc.Arena, len(g.Score))
	prs, err := g.differentiate(grad, p, sc)
	if err != nil && (errors.Is(err, errs.ErrBin) || errors.Is(err, errs.ErrNoEvents)) {
		for g.few = err; err != nil; {
			if p = fewerBins(p); p == nil {
				return nil
			}
			prs, err = g.differentiate(grad, p, sc)
		}
	}
	if err != nil {
		return err
	}
	inOrder := prs[0].Order(sc)
	if !prs[0].Sorted {
		inOrder = sorted.Values(g.Score, sc)
	}
	unit, size, n := events.UnitOfWeights(g.Weight), 0.0, len(inOrder)
	for _, i := range inOrder {
		size += g.size(int(i), unit)
	}
	g.push = make([]float64, len(g.Score))
	below, least := 0.0, leastRank/float64(n)
	for lo, hi := 0, 0; lo < n; lo = hi {
		tied, score := 0.0, g.Score[inOrder[lo]]
		for hi = lo; hi < n && g.Score[inOrder[hi]] == score; hi++ {
			tied += g.size(int(inOrder[hi]), unit)
		}
		q := (below + tied/2) / size
		factor := 1 / math.Sqrt(max(q*(1-q), least))
		for k, i := range inOrder[lo:hi] {
			if k += lo; !prs[0].Sorted {
				k = int(i)
			}
			g.push[i] = float64(grad[k]) * factor
		}
		below += tied
	}
	return nil
}

// differentiate sets the derivatives of the loss, in order of score if there is one variable of mass.
func (g *group[T]) differentiate(grad []T, p *loss.Plan, sc *par.Scratch) (prs []*loss.Prepared[T], err error) {
	clear(grad)
	if prs, err = loss.Prepare(g.Events, g.Index, p, sc); err == nil {
		prs[0].Sorted = len(p.Masses) == 1
		_, err = loss.Integrate(events.Derivatives[T]{Grad: grad}, prs, false, sc)
	}
	return prs, err
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

// leastPush is the least |u| of events with one as the sum of their squared weights, relative to it. A smaller direction is rounding,
// as with order + 1 bins, where the fit is exact.
const leastPush = 1e-12

// norm returns |u| over the events that are pushed, whose places are below batch, and their number. 0: there is no push.
func (g *group[T]) norm(batch int) (norm, pushed float64) {
	var square, size, squares float64
	unit := events.UnitOfWeights(g.Weight)
	for i, u := range g.push {
		w := g.size(i, unit)
		size, squares = size+w, squares+w*w
		if g.Place(i) < batch {
			square += u * u
			pushed++
		}
	}
	if norm = math.Sqrt(square); !(norm*size > leastPush*math.Sqrt(squares)) {
		norm = 0
	}
	return norm, pushed
}
