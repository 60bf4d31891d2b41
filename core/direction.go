package core

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/push"
)

// Steering is what a constraint remembers from batch to batch and Direction needs: numbers that the caller keeps.
type Steering struct {
	// Norm is the average of Pushed.Norm over earlier batches, and Rate the share that this batch has in the average: 1
	// for the first.
	Norm, Rate float64
	// Factor is what the residual of the batch is multiplied with.
	Factor float64
	// Sum is added to that: the caller's sum of earlier residuals, as long as Pushed.Residual. Nil: none.
	Sum []float64
	// Batch is the number of events that are pushed: those after it are reference events. 0: all.
	Batch int
	// Logits says that the push is by the logits of the scores, and not by the scores.
	Logits bool
}

// Pushed is what Direction finds beside the push itself.
type Pushed struct {
	Result         // of the loss without its bias: Unbiased
	Norm   float64 // the average of the norm of the direction, with this batch
	Spread float64 // the standard deviation of the logits of background events, at most 1
	Moved  int     // the number of events of the batch that take part
	// Residual has the coefficients of the residual of the batch in the cosines of the ranks of mass and score: for each
	// background label, a row of DirectionSize for each function of the masses.
	Residual []float64
}

// DirectionSize returns the length of Pushed.Residual for so many variables of mass and background labels.
func DirectionSize(variables, labels int) int {
	masses, scores := push.Functions(variables)
	return labels * masses * scores
}

const (
	leastNorm      = 1e-12 // below it a direction is rounding, as with no more bins than order + 1, which any response fits
	leastSlope     = 1e-6  // of scores that are 0 or 1 in their type: their logits move no further
	directionBins  = 16    // where none are asked for: half as many as a loss has, with half of the noise
	eventsOfPushes = 8     // in each of these
)

// Direction sets dst, of the length of the batch, to the push of a constraint: where to move each background event, so
// that the dependence on the mass that the loss sees goes away. Events that take no part get 0. The push is
//
//	u(m, s) = Factor r(m, s) + Sum(m, s)
//
// times the event's weight, where the residual r is the gradient of the loss per weight, smooth in the ranks of mass and
// score, in units of the norm of the gradient: of the average norm, or of this batch's where that is larger. docs/training.md derives it, and docs/zoo.md shows what it does.
func Direction[T Float](dst []T, ev Events[T], cfg Config, st Steering) (Pushed, error) {
	if err := cfg.Validate(); err != nil {
		return Pushed{}, err
	}
	if err := ev.CheckLengths(); err != nil {
		return Pushed{}, err
	}
	n, variables, labels := len(ev.Score), len(ev.Variables()), len(cfg.BackgroundLabel)
	if st.Batch == 0 {
		st.Batch = n
	}
	switch size := DirectionSize(variables, labels); {
	case st.Batch < 0 || st.Batch > n:
		return Pushed{}, errs.Of(ErrLength, "batch = %d: must be 1 to the number of events, %d", st.Batch, n)
	case len(dst) != st.Batch:
		return Pushed{}, errs.Of(ErrLength, "push has length %d, but the batch has %d events", len(dst), st.Batch)
	case st.Sum != nil && len(st.Sum) != size:
		return Pushed{}, errs.Of(ErrLength, "sum has length %d, and must have %d for %d variables of mass and %d background labels",
			len(st.Sum), size, variables, labels)
	}
	if err := st.check(); err != nil {
		return Pushed{}, err
	}
	p, err := planFor[T](cfg, variables)
	if err != nil {
		return Pushed{}, err
	}
	sc := par.Take()
	defer sc.Give()
	sc.Team.PartsFor(n)
	background, index, subsets := ev, []uint32(nil), []events.Subset{{Hi: n}}
	if ev.Label != nil || ev.Category != nil {
		di := par.Kept[events.Division[T]](sc)
		if err := di.Divide(ev, cfg.BackgroundLabel, sc); err != nil {
			return Pushed{}, err
		}
		background, index, subsets = di.Events, di.Index, di.Subsets
	}
	ofLoss := cfg
	ownBins := func(v Variable) bool { return v.Bins > 0 }
	if cfg.Bins == 0 && cfg.Binning == Quantile && cfg.Basis == Legendre && !cfg.Joint && !slices.ContainsFunc(cfg.Variables, ownBins) &&
		len(background.Score) >= directionBins*eventsOfPushes*labels {
		ofLoss.Bins = directionBins
	}
	grad := make([]T, n)
	result, err := Evaluate(grad, ev, ofLoss)
	if err != nil {
		return Pushed{}, err
	}
	if !cfg.Unbiased {
		result.Loss -= result.Bias
	}
	groups := make([]movedGroup[T], 0, len(subsets))
	for k := range subsets {
		if mg := moved(background, index, &subsets[k], grad, p); len(mg.place) > 0 {
			groups = append(groups, mg)
		}
	}
	clear(dst)
	pushed := steer(dst, groups, &cfg, &st, variables)
	pushed.Result = result
	return pushed, nil
}

// check returns an error for the first number that is out of its range.
func (st *Steering) check() error {
	switch {
	case !(st.Norm >= 0) || !finite(st.Norm):
		return errs.Of(ErrOption, "norm = %v: must be finite and at least 0", st.Norm)
	case !(st.Rate >= 0 && st.Rate <= 1):
		return errs.Of(ErrOption, "rate = %v: must be from 0 to 1", st.Rate)
	case !finite(st.Factor):
		return errs.Of(ErrOption, "factor = %v: must be finite", st.Factor)
	}
	for k, x := range st.Sum {
		if !finite(x) {
			return errs.Of(ErrNotFinite, "sum[%d] = %v: must be finite", k, x)
		}
	}
	return nil
}

// movedGroup is the events of one label and category that take part.
type movedGroup[T Float] struct {
	push.Group
	label     int
	place     []uint32 // in the input
	score     []T
	masses    [][]T // NaN where an event takes no part for the variable
	weight    []float64
	direction []float64
}

// moved returns those of a subset that take part: they have a weight that is not 0, and a mass inside its limits.
func moved[T Float](ev Events[T], index []uint32, su *events.Subset, grad []T, p *loss.Plan) movedGroup[T] {
	mg, masses, absent := movedGroup[T]{label: su.Label}, ev.Variables(), T(math.NaN())
	mg.masses = make([][]T, len(masses))
	n := su.Size()
	for v := range masses {
		mg.masses[v] = make([]T, 0, n)
	}
	mg.place, mg.score = make([]uint32, 0, n), make([]T, 0, n)
	mg.weight, mg.direction = make([]float64, 0, n), make([]float64, 0, n)
	var values [MaxVariables]T
	for i := su.Lo; i < su.Hi; i++ {
		present := 0
		for v, mass := range masses {
			values[v] = absent
			limits := p.Variables[v].Limits.Mass
			if m := float64(mass[i]); m >= limits[0] && m <= limits[1] {
				values[v] = mass[i]
				present++
			}
		}
		w, at := 1.0, uint32(i)
		if ev.Weight != nil {
			w = float64(ev.Weight[i])
		}
		if w == 0 || present == 0 || p.Joint && present < len(masses) {
			continue
		}
		if index != nil {
			at = index[i]
		}
		for v := range masses {
			mg.masses[v] = append(mg.masses[v], values[v])
		}
		mg.place, mg.score, mg.weight = append(mg.place, at), append(mg.score, ev.Score[i]), append(mg.weight, w)
		mg.direction = append(mg.direction, float64(grad[at]))
	}
	return mg
}

// steer writes the push of the events of the batch, and returns what belongs to it.
func steer[T Float](dst []T, groups []movedGroup[T], cfg *Config, st *Steering, variables int) Pushed {
	found, all := Pushed{Norm: st.Norm, Spread: 1, Residual: make([]float64, DirectionSize(variables, len(cfg.BackgroundLabel)))}, 0
	var sum float64
	for k := range groups {
		all += len(groups[k].weight)
		for _, w := range groups[k].weight {
			sum += math.Abs(w)
		}
	}
	if all == 0 {
		return found
	}
	var squares, total float64
	for k := range groups {
		mg := &groups[k]
		for i := range mg.weight {
			mg.weight[i] *= float64(all) / sum // no scale of weights matters
		}
		push.Set(&mg.Group, mg.score, mg.masses, mg.weight)
		mg.Direct(mg.direction)
		for _, d := range mg.direction {
			squares += d * d
		}
		total += mg.Total()
	}
	norm := math.Sqrt(squares)
	found.Norm += st.Rate * (norm - st.Norm)
	var unit float64
	if found.Norm > leastNorm {
		unit = math.Sqrt(float64(all)) / max(norm, found.Norm) // a dependence that bursts does not burst the push
	}
	found.Spread = spreadOf(groups, cfg)
	size := len(found.Residual) / len(cfg.BackgroundLabel)
	own, coefficients := make([]float64, size), make([]float64, size)
	for k := range groups {
		mg := &groups[k]
		mg.Residual(own, mg.direction, unit)
		of := found.Residual[mg.label*size : (mg.label+1)*size]
		for j, r := range own {
			of[j] += r * mg.Total() / total
			coefficients[j] = st.Factor * r
			if st.Sum != nil {
				coefficients[j] += st.Sum[mg.label*size+j]
			}
		}
		mg.Push(mg.direction, coefficients)
		for i, u := range mg.direction {
			if at := mg.place[i]; int(at) < len(dst) {
				if !st.Logits {
					u /= max(slopeAt(float64(mg.score[i]), cfg), leastSlope)
				}
				dst[at] = T(u)
				found.Moved++
			}
		}
	}
	return found
}

// slopeAt returns how fast a score moves with its logit: s (1 - s) for one from 0 to 1, and 1 where scores have no limits.
func slopeAt(score float64, cfg *Config) float64 {
	lo, hi := cfg.ScoreRange[0], cfg.ScoreRange[1]
	if math.IsInf(lo, -1) {
		return 1
	}
	return (score - lo) * (hi - score) / (hi - lo)
}

// spreadOf returns the standard deviation of the logits of events, by that of their scores and their mean slope, at most 1.
func spreadOf[T Float](groups []movedGroup[T], cfg *Config) float64 {
	if math.IsInf(cfg.ScoreRange[0], -1) {
		return 1
	}
	var total, mean, slope, square float64
	each := func(f func(score, size float64)) {
		for k := range groups {
			for i, s := range groups[k].score {
				f(float64(s), math.Abs(groups[k].weight[i]))
			}
		}
	}
	each(func(score, size float64) {
		total += size
		mean += size * score
		slope += size * slopeAt(score, cfg)
	})
	mean /= total
	each(func(score, size float64) { square += size * (score - mean) * (score - mean) })
	if spread := math.Sqrt(square/total) / (slope / total); spread < 1 {
		return spread
	}
	return 1
}
