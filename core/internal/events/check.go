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
	N                               int
	MassSpan, ScoreSpan, WeightSpan Span
	LeastWeight                     float64 // the least |w| above 0
}

// Span is the range of some numbers.
type Span struct{ Lo, Hi float64 }

func (sp *Span) widen(lo, hi float64) { sp.Lo, sp.Hi = min(sp.Lo, lo), max(sp.Hi, hi) }

var noSpan = Span{math.Inf(1), math.Inf(-1)}

// noStats are the statistics of no events.
var noStats = Stats{MassSpan: noSpan, ScoreSpan: noSpan, WeightSpan: noSpan, LeastWeight: math.Inf(1)}

// Part is a range of events that one goroutine handles: the statistics of the events that take part, the number of events in each
// cell, and whether an event is bad.
type Part struct {
	Stats
	Lo, Hi                  int
	MassCounts, ScoreCounts []uint32
	failed                  bool
}

// check looks at every event once. It returns the error of the first bad one, or sets the statistics and the counts of
// cells. If no mass range is given, it becomes the range of the masses.
func (sel *Selection[T]) check(sc *par.Scratch) error {
	n := len(sel.Mass)
	sc.Expect(n)
	sel.Pairs, sel.Parts = par.Unset[uint32](&sc.Arena, n), make([]Part, sc.Parts)
	for k := range sel.Parts {
		sel.Parts[k] = Part{
			Stats: noStats, Lo: n * k / sc.Parts, Hi: n * (k + 1) / sc.Parts,
			MassCounts: par.Make[uint32](&sc.Arena, sel.MassCells.Count()), ScoreCounts: par.Make[uint32](&sc.Arena, sel.ScoreCells.Count()),
		}
	}
	tidy := !slices.Contains(sel.cellOf, NoPair) // whether all events may take part, so that blocks need no look at each
	sc.Run(sc.Parts, func(k int) {
		p := &sel.Parts[k]
		p.failed = !sel.checkPart(p, tidy)
	})
	sel.Stats = noStats
	for _, p := range sel.Parts {
		if p.failed {
			return sel.firstBad()
		}
		sel.N += p.N
		sel.MassSpan.widen(p.MassSpan.Lo, p.MassSpan.Hi)
		sel.ScoreSpan.widen(p.ScoreSpan.Lo, p.ScoreSpan.Hi)
		sel.WeightSpan.widen(p.WeightSpan.Lo, p.WeightSpan.Hi)
		sel.LeastWeight = min(sel.LeastWeight, p.LeastWeight)
	}
	if sel.WeightSpan.Lo == sel.WeightSpan.Hi && sel.WeightSpan.Lo > 0 {
		sel.Weight = nil // a common factor does not matter
	}
	if math.IsInf(sel.MassLo, -1) && sel.N > 0 {
		sel.MassLo, sel.MassHi = sel.MassSpan.Lo, sel.MassSpan.Hi
	}
	return nil
}

// checkPart checks and counts the events of a part, and reports whether all of them are good. If the selection is tidy, it checks
// whole blocks until one of them has an event that is bad or takes no part.
func (sel *Selection[T]) checkPart(p *Part, tidy bool) bool {
	for lo := p.Lo; lo < p.Hi; lo += 4 * par.Block {
		hi := min(lo+4*par.Block, p.Hi)
		if tidy = tidy && sel.checkAll(p, lo, hi); !tidy && !sel.checkEach(p, lo, hi) {
			return false
		}
	}
	if sel.Weight == nil {
		return true
	}
	for i, weight := range sel.Weight[p.Lo:p.Hi] {
		w := float64(weight)
		if !IsFinite(w) {
			return false
		}
		if sel.Pairs[p.Lo+i] != NoPair {
			p.WeightSpan.widen(w, w)
			if size := math.Abs(w); size < p.LeastWeight && size > 0 {
				p.LeastWeight = size
			}
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
	p.N += hi - lo
	p.MassSpan.widen(float64(seen.MassMin)+0, float64(seen.MassMax)+0)
	p.ScoreSpan.widen(float64(seen.ScoreMin)+0, float64(seen.ScoreMax)+0)
	scoreCounts, massCounts := p.ScoreCounts, p.MassCounts
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
		stats.MassSpan.widen(float64(m), float64(m))
		stats.ScoreSpan.widen(float64(s), float64(s))
		scoreCell, massCell := sel.ScoreCells.Of(s), sel.MassCells.Of(m)
		p.ScoreCounts[scoreCell]++
		p.MassCounts[massCell]++
		if sel.cellOf != nil {
			massCell = sel.cellOf[i]
		}
		sel.Pairs[i] = scoreCell<<BinBits | massCell
	}
	p.Stats = stats
	return true
}
