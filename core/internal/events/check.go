package events

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// Stats describes the events that take part.
type Stats struct {
	N                    int
	MassMin, MassMax     float64
	ScoreMin, ScoreMax   float64
	WeightMin, WeightMax float64
	WeightLeast          float64 // the least |w| above 0
}

// noStats are the statistics of no events.
var noStats = Stats{
	MassMin: math.Inf(1), MassMax: math.Inf(-1), ScoreMin: math.Inf(1), ScoreMax: math.Inf(-1), WeightMin: math.Inf(1), WeightMax: math.Inf(-1),
	WeightLeast: math.Inf(1),
}

func (s *Stats) merge(other Stats) {
	s.N += other.N
	s.MassMin, s.MassMax = min(s.MassMin, other.MassMin), max(s.MassMax, other.MassMax)
	s.ScoreMin, s.ScoreMax = min(s.ScoreMin, other.ScoreMin), max(s.ScoreMax, other.ScoreMax)
	s.WeightMin, s.WeightMax = min(s.WeightMin, other.WeightMin), max(s.WeightMax, other.WeightMax)
	s.WeightLeast = min(s.WeightLeast, other.WeightLeast)
}

// Part is a range of events that one goroutine handles: the statistics of the events that take part, the number of events in each
// cell, and whether an event is bad.
type Part struct {
	Stats
	Lo, Hi         int
	Masses, Scores []uint32
	failed         bool
}

// Block is the number of events that stay in cache between the passes over a block.
const Block = 1 << 11

// check looks at every event once. It returns the error of the first bad one, or sets the statistics and the counts of
// cells. If no mass range is given, it becomes the range of the masses.
func (sel *Selection[T]) check(sc *par.Scratch) error {
	n := len(sel.Mass)
	sc.Expect(n)
	parts := sc.Parts
	sel.Pairs, sel.Parts = par.Unset[uint32](&sc.Arena, n), make([]Part, parts)
	for k := range sel.Parts {
		sel.Parts[k] = Part{
			Stats: noStats, Lo: n * k / parts, Hi: n * (k + 1) / parts,
			Masses: par.Make[uint32](&sc.Arena, sel.MassCells.Count()), Scores: par.Make[uint32](&sc.Arena, sel.ScoreCells.Count()),
		}
	}
	tidy := !slices.Contains(sel.cellOf, NoPair) // whether all events may take part, so that blocks need no look at each
	sc.Run(parts, func(k int) {
		p := &sel.Parts[k]
		p.failed = !sel.checkPart(p, tidy)
	})
	sel.Stats = noStats
	for k := range sel.Parts {
		if sel.Parts[k].failed {
			return sel.firstBad()
		}
		sel.merge(sel.Parts[k].Stats)
	}
	if sel.WeightMin == sel.WeightMax && sel.WeightMin > 0 {
		sel.Weight = nil // a common factor does not matter
	}
	if math.IsInf(sel.MassLo, -1) && sel.N > 0 {
		sel.MassLo, sel.MassHi = sel.MassMin, sel.MassMax
	}
	return nil
}

// checkPart checks and counts the events of a part, and reports whether all of them are good. If the selection is tidy, it checks
// whole blocks until one of them has an event that is bad or takes no part.
func (sel *Selection[T]) checkPart(p *Part, tidy bool) bool {
	if sel.Weight != nil {
		for i, weight := range sel.Weight[p.Lo:p.Hi] {
			w := float64(weight)
			if !IsFinite(w) {
				return false
			}
			if (w < p.WeightMin || w > p.WeightMax) && sel.TakesPart(p.Lo+i) {
				p.WeightMin, p.WeightMax = min(p.WeightMin, w), max(p.WeightMax, w)
			}
			if size := math.Abs(w); size < p.WeightLeast && size > 0 && sel.TakesPart(p.Lo+i) {
				p.WeightLeast = size
			}
		}
	}
	for lo := p.Lo; lo < p.Hi; lo += Block {
		hi := min(lo+Block, p.Hi)
		if tidy = tidy && sel.checkAll(p, lo, hi); !tidy && !sel.checkEach(p, lo, hi) {
			return false
		}
	}
	return true
}

// bad returns the name of the number of event i that is bad, weights apart, or "".
func (sel *Selection[T]) bad(i int) string {
	m := sel.Mass[i]
	switch {
	case sel.Score != nil && !(float64(sel.Score[i]) >= sel.scoreLo && float64(sel.Score[i]) <= sel.scoreHi):
		return "score"
	case m-m != 0 && !(m != m && sel.ignoreMissing):
		return "mass"
	}
	return ""
}

// firstBad returns the error of the first bad event, whatever the parts are: about its score, its mass or its weight.
func (sel *Selection[T]) firstBad() error {
	for i := range sel.Mass {
		place := i // in the input
		if sel.index != nil {
			place = int(sel.index[i])
		}
		switch name := sel.bad(i); {
		case name == "score" && IsFinite(float64(sel.Score[i])):
			advice := errs.Widen
			if sel.scoreLo <= 0 && sel.scoreHi >= 1 { // the results of a sigmoid are inside
				advice = errs.ApplySigmoid
			}
			return errs.Advised(errs.At(errs.ErrScoreRange, "score", place, " = %v lies outside score_range = [%v, %v]: ",
				float64(sel.Score[i]), sel.scoreLo, sel.scoreHi), advice)
		case name == "score":
			return NotFinite(name, place, float64(sel.Score[i]))
		case name == "mass":
			return NotFinite(name, place, float64(sel.Mass[i]))
		case sel.Weight != nil && !IsFinite(float64(sel.Weight[i])):
			return NotFinite("weight", place, float64(sel.Weight[i]))
		}
	}
	panic("events: no event is bad")
}

// Check returns the error of the first bad event.
func Check[T Float](ev Events[T], index []uint32, limits Limits) error {
	sel := &Selection[T]{
		Events: ev, index: index, ignoreMissing: limits.IgnoreMissing,
		scoreLo: max(limits.Score[0], -math.MaxFloat64), scoreHi: min(limits.Score[1], math.MaxFloat64),
	}
	for i := range sel.Mass {
		if sel.bad(i) != "" || sel.Weight != nil && !IsFinite(float64(sel.Weight[i])) {
			return sel.firstBad()
		}
	}
	return nil
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
	p.merge(Stats{
		N: hi - lo, WeightMin: p.WeightMin, WeightMax: p.WeightMax, WeightLeast: p.WeightLeast,
		MassMin: float64(seen.MassMin) + 0, MassMax: float64(seen.MassMax) + 0,
		ScoreMin: float64(seen.ScoreMin) + 0, ScoreMax: float64(seen.ScoreMax) + 0,
	})
	scoreCounts, massCounts := p.Scores, p.Masses
	for _, pair := range pairs {
		scoreCounts[pair>>BinBits]++
		massCounts[pair&BinMask]++
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
	stats := p.Stats
	for i := lo; i < hi; i++ {
		if sel.Pairs[i] = NoPair; sel.bad(i) != "" {
			return false
		}
		if !sel.TakesPart(i) {
			continue
		}
		var s T
		if sel.Score != nil {
			s = sel.Score[i]
		}
		m := sel.Mass[i]
		stats.N++
		stats.MassMin, stats.MassMax = min(stats.MassMin, float64(m)), max(stats.MassMax, float64(m))
		stats.ScoreMin, stats.ScoreMax = min(stats.ScoreMin, float64(s)), max(stats.ScoreMax, float64(s))
		scoreCell, massCell := sel.ScoreCells.Of(s), sel.MassCells.Of(m)
		p.Scores[scoreCell]++
		p.Masses[massCell]++
		if sel.cellOf != nil {
			massCell = sel.cellOf[i]
		}
		sel.Pairs[i] = scoreCell<<BinBits | massCell
	}
	p.Stats = stats
	return true
}
