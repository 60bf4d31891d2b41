package events

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// Part is a range of events that one goroutine handles: the statistics of the events that take part, the number of events in each
// cell, and whether an event is bad.
type Part struct {
	Lo, Hi         int
	Masses, Scores []uint32
	found          Stats
	failed         bool
}

// Block is the number of events that stay in cache between the passes over a block.
const Block = 1 << 11

// check looks at every event once. It returns the error of the first bad one, or sets the statistics and the counts of
// cells. If no mass range is given, it becomes the range of the masses.
func (sel *Selection[T]) check(sc *par.Scratch) error {
	sel.setParts(sc)
	tidy := !slices.Contains(sel.cellOf, NoPair) // whether all events may take part, so that blocks need no look at each
	sc.Team.Run(len(sel.Parts), func(k int) {
		p := &sel.Parts[k]
		p.failed = !sel.checkPart(p, tidy)
	})
	sel.Stats = emptyStats()
	for k := range sel.Parts {
		p := &sel.Parts[k]
		if p.failed {
			return sel.firstBad()
		}
		sel.merge(&p.found)
	}
	if sel.WeightMin == sel.WeightMax && sel.WeightMin > 0 {
		sel.Weight = nil // a common factor does not matter
	}
	if math.IsInf(sel.MassLo, -1) && sel.N > 0 {
		sel.MassLo, sel.MassHi = sel.MassMin, sel.MassMax
	}
	return nil
}

// setParts makes the parts, with all counts 0.
func (sel *Selection[T]) setParts(sc *par.Scratch) {
	n := len(sel.Mass)
	parts := sc.Team.PartsFor(n)
	sel.Pairs, sel.Parts = par.Unset[uint32](&sc.Arena, n), make([]Part, parts)
	for k := range sel.Parts {
		sel.Parts[k] = Part{
			Lo: n * k / parts, Hi: n * (k + 1) / parts, found: emptyStats(),
			Masses: par.Make[uint32](&sc.Arena, sel.MassCells.Count()), Scores: par.Make[uint32](&sc.Arena, sel.ScoreCells.Count()),
		}
	}
}

// checkPart checks and counts the events of a part, and reports whether all of them are good. If the selection is tidy, it checks
// whole blocks until one of them has an event that is bad or takes no part.
func (sel *Selection[T]) checkPart(p *Part, tidy bool) bool {
	if sel.Weight != nil && !sel.checkWeights(p) {
		return false
	}
	for lo := p.Lo; lo < p.Hi; lo += Block {
		hi := min(lo+Block, p.Hi)
		if tidy = tidy && sel.checkAll(p, lo, hi); tidy {
			continue
		}
		if !sel.checkEach(p, lo, hi) {
			return false
		}
	}
	return true
}

// firstBad returns the error of the first bad event, whatever the parts are: about its score, its mass or its weight.
func (sel *Selection[T]) firstBad() error {
	for i, m := range sel.Mass {
		place := sel.placeOf(i)
		switch {
		case sel.Score != nil && !sel.isInRange(sel.Score[i]):
			return sel.badScore(place, float64(sel.Score[i]))
		case m-m != 0 && !(m != m && sel.ignoreMissing):
			return NotFinite("mass", place, float64(m))
		case sel.Weight != nil && !IsFinite(float64(sel.Weight[i])):
			return NotFinite("weight", place, float64(sel.Weight[i]))
		}
	}
	panic("events: no event is bad")
}

// isInRange reports whether a score lies in the range of the scores.
func (sel *Selection[T]) isInRange(s T) bool {
	return float64(s) >= sel.scoreLo && float64(s) <= sel.scoreHi
}

// checkAll checks and counts the events lo..hi-1, and reports whether all of them are good and take part.
func (sel *Selection[T]) checkAll(p *Part, lo, hi int) bool {
	scores, pairs := sel.Score, sel.Pairs[lo:hi]
	if scores == nil {
		scores = sel.Mass
	}
	seen := lanes.Look(scores[lo:hi], sel.Mass[lo:hi], sel.ScoreCells, sel.MassCells, pairs)
	if !seen.Number || float64(seen.ScoreMin) < sel.scoreLo || float64(seen.ScoreMax) > sel.scoreHi ||
		float64(seen.MassMin) < max(sel.MassLo, -math.MaxFloat64) || float64(seen.MassMax) > min(sel.MassHi, math.MaxFloat64) {
		return false
	}
	// Adding 0 turns -0 into 0, so that the result does not depend on which of the two was found.
	p.found.merge(&Stats{
		N: hi - lo, WeightMin: math.Inf(1), WeightMax: math.Inf(-1),
		MassMin: float64(seen.MassMin) + 0, MassMax: float64(seen.MassMax) + 0,
		ScoreMin: float64(seen.ScoreMin) + 0, ScoreMax: float64(seen.ScoreMax) + 0,
	})
	counts, masses := p.Scores, p.Masses
	if len(masses) > 1 {
		for _, pair := range pairs {
			counts[pair>>BinBits]++
			masses[pair&BinMask]++
		}
	} else { // no counter for the masses: each addition to a single counter would wait for the one before
		for _, pair := range pairs {
			counts[pair>>BinBits]++
		}
	}
	if sel.cellOf != nil {
		for i, cell := range sel.cellOf[lo:hi] {
			pairs[i] |= cell
		}
	}
	return true
}

// checkEach checks and counts the events lo..hi-1 one by one, and reports whether all of them are good.
func (sel *Selection[T]) checkEach(p *Part, lo, hi int) bool {
	found := p.found
	for i := lo; i < hi; i++ {
		var s T
		if sel.Score != nil {
			s = sel.Score[i]
		}
		m := sel.Mass[i]
		sel.Pairs[i] = NoPair
		switch {
		case sel.Score != nil && !sel.isInRange(s):
			return false
		case m != m && sel.ignoreMissing:
			continue
		case m-m != 0:
			return false
		case !sel.TakesPart(i):
			continue
		}
		found.N++
		found.MassMin, found.MassMax = min(found.MassMin, float64(m)), max(found.MassMax, float64(m))
		found.ScoreMin, found.ScoreMax = min(found.ScoreMin, float64(s)), max(found.ScoreMax, float64(s))
		scoreCell, massCell := sel.ScoreCells.Of(s), sel.MassCells.Of(m)
		p.Scores[scoreCell]++
		p.Masses[massCell]++
		if sel.cellOf != nil {
			massCell = sel.cellOf[i]
		}
		sel.Pairs[i] = scoreCell<<BinBits | massCell
	}
	p.found = found
	return true
}

// checkWeights finds the range of the weights of the events that take part, and reports whether all weights are finite.
func (sel *Selection[T]) checkWeights(p *Part) bool {
	lowest, highest := math.Inf(1), math.Inf(-1)
	for i := p.Lo; i < p.Hi; i++ {
		w := float64(sel.Weight[i])
		if !IsFinite(w) {
			return false
		}
		if (w < lowest || w > highest) && sel.TakesPart(i) {
			lowest, highest = min(lowest, w), max(highest, w)
		}
	}
	p.found.WeightMin, p.found.WeightMax = lowest, highest
	return true
}

func (sel *Selection[T]) badScore(i int, s float64) error {
	if !IsFinite(s) {
		return NotFinite("score", i, s)
	}
	advice := errs.Widen
	if sel.scoreLo <= 0 && sel.scoreHi >= 1 { // the results of a sigmoid are inside
		advice = errs.ApplySigmoid
	}
	return errs.Advised(errs.At(errs.ErrScoreRange, "score", i, " = %v lies outside score_range = [%v, %v]: ", s, sel.scoreLo, sel.scoreHi), advice)
}
