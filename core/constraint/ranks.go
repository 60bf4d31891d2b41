package constraint

import (
	"errors"
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
)

// group has the events of one label and category that take part, in order of score.
type group struct {
	events.Subset
	place []uint32 // of each event in the input
	score []float64
	ranks events.Events[float64] // the ranks as scores, the masses, and the weights in a unit in which the largest is about 1
	push  []float64              // u; nil: the events are too few
	cell  []uint8                // of all masses together, for planing
}

// newGroup returns the events of a subset that take part: they have a weight, and a mass inside its limits. There may be none.
func newGroup[T events.Float](sub events.Subset, ev events.Events[T], index []uint32, p *loss.Plan, sc *par.Scratch) (*group, error) {
	g, arena, masses := &group{Subset: sub}, &sc.Arena, ev.Variables()
	inside := make([]*events.Selection[T], len(masses))
	for v, mass := range masses {
		var err error
		inside[v], err = events.Check(events.Events[T]{Score: ev.Score, Mass: mass, Weight: ev.Weight}, index, p.Masses[v].Limits)
		if err != nil {
			return nil, err
		}
	}
	// With several variables one by one an event needs one of them, and jointly all.
	takesPart := func(i int) bool {
		for _, sel := range inside {
			if sel.TakesPart(i) != p.Joint {
				return !p.Joint
			}
		}
		return p.Joint
	}
	sorted := radix.SortValues(ev.Score, sc)
	g.place = par.Unset[uint32](arena, len(sorted.Words))[:0]
	for _, word := range sorted.Words {
		if i := sorted.Index(word); (ev.Weight == nil || ev.Weight[i] != 0) && takesPart(i) {
			g.place = append(g.place, uint32(i))
		}
	}
	pick := func(from []T, unit float64) []float64 {
		to := par.Unset[float64](arena, len(g.place))
		for k, i := range g.place {
			to[k] = float64(from[i]) * unit
		}
		return to
	}
	g.score = pick(ev.Score, 1)
	for _, mass := range masses {
		g.ranks.Masses = append(g.ranks.Masses, pick(mass, 1))
	}
	if ev.Weight != nil {
		g.ranks.Weight = pick(ev.Weight, events.UnitOfWeights(ev.Weight))
	}
	g.ranks.Score = ranks(g.score, g.ranks.Weight, arena)
	if index != nil {
		for k, i := range g.place {
			g.place[k] = index[i]
		}
	}
	return g, nil
}

// ranks returns the part of the sum of sizes |weight| below each of the scores, which are in order, plus half of the part of equal
// scores.
func ranks(score, weight []float64, arena *par.Arena) []float64 {
	all, below := par.Unset[float64](arena, len(score)), 0.0
	for lo, hi := 0, 0; lo < len(score); lo = hi {
		tied := 0.0
		for hi = lo; hi < len(score) && score[hi] == score[lo]; hi++ {
			if weight == nil {
				tied++
			} else {
				tied += math.Abs(weight[hi])
			}
		}
		for k := lo; k < hi; k++ {
			all[k] = below + tied/2
		}
		below += tied
	}
	for k := range all {
		all[k] /= below
	}
	return all
}

// leastRank is the number of events of a batch whose part of all counts as the least q (1 - q).
const leastRank = 3

// leastPush is the least |u| of events with one as the sum of their squared weights, relative to it. A smaller direction is rounding,
// as with order + 1 bins, where the fit is exact.
const leastPush = 1e-12

// setPush sets u, the derivatives of the loss of the ranks times 1/sqrt(q (1 - q)), for events whose loss has bins enough. Over the
// logarithm of the odds of a rank each working point counts by its significance, since the noise of a residual is in proportion to
// sqrt(q (1 - q)).
//
// A batch with too few events for the bins of its loss gets fewer bins. If there are too few for any, few says so in the words of the
// loss in its own bins.
func (g *group) setPush(p *loss.Plan, sc *par.Scratch) (few, err error) {
	n := len(g.place)
	for ; p != nil; p = fewerBins(p) {
		grad := par.Make[float64](&sc.Arena, n)
		prs, err := loss.Prepare(g.ranks, nil, p, sc)
		if err == nil {
			_, err = loss.Integrate(events.Derivatives[float64]{grad}, prs, false, sc)
		}
		if err == nil {
			g.push = grad
			break
		}
		if !errors.Is(err, errs.ErrBin) && !errors.Is(err, errs.ErrNoEvents) {
			return nil, err
		}
		if few == nil {
			few = err
		}
	}
	if g.push == nil {
		return few, nil
	}
	least := leastRank / float64(n)
	for k, q := range g.ranks.Score {
		g.push[k] /= math.Sqrt(max(q*(1-q), least))
	}
	return nil, nil
}

// fewerBins returns a plan with fewer bins than one that has events for too few; nil: there is none.
func fewerBins(p *loss.Plan) *loss.Plan {
	fewer := *p
	fewer.Masses = slices.Clone(p.Masses)
	for k := range fewer.Masses {
		o := &fewer.Masses[k]
		switch asked := o.Asked; {
		case p.Joint:
			if o.Kind == bins.GivenEdges {
				asked = len(o.Edges) - 1
			} else if asked == 0 {
				asked = mostOfJoint
			}
			if o.Kind, o.Asked = bins.Quantile, asked/2; o.Asked == 0 {
				return nil
			}
		case o.Merges():
			return nil
		case o.Kind == bins.GivenEdges:
			asked = len(o.Edges) - 1
			fallthrough
		default:
			o.Kind, o.Asked, o.Most = bins.Quantile, 0, max(asked-1, 1)
		}
	}
	return &fewer
}

// mostOfJoint is the default number of bins of each of several variables together.
const mostOfJoint = 8

// norm returns |u| over the events that are pushed, whose places are below batch; 0: there is no push.
func (g *group) norm(batch int) float64 {
	var square, size, squares float64
	for k, u := range g.push {
		w := 1.0
		if g.ranks.Weight != nil {
			w = g.ranks.Weight[k]
		}
		size += math.Abs(w)
		squares += w * w
		if int(g.place[k]) < batch {
			square += u * u
		}
	}
	if norm := math.Sqrt(square); norm*size > leastPush*math.Sqrt(squares) {
		return norm
	}
	return 0
}
