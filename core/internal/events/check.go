package events

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// check looks at every event once: it returns an error for the first bad value,
// fills stats and counts events by cell. With no mass range given, the range
// becomes that of the masses.
func (sel *Selection[T]) check(sc *par.Scratch) error {
	sel.divide(sc)
	sc.Team.Run(len(sel.Parts), func(k int) {
		p := &sel.Parts[k]
		p.found, p.failed = sel.checkPart(p)
	})
	sel.Stats = emptyStats()
	for k := range sel.Parts {
		p := &sel.Parts[k]
		if p.failed != nil {
			return p.failed
		}
		sel.Stats.merge(&p.found)
	}
	if sel.N == 0 {
		return sel.nothingSelected()
	}
	if sel.WeightMin == sel.WeightMax && sel.WeightMin > 0 {
		sel.Weight = nil // a common factor does not matter, and loops without weights are faster
	}
	if math.IsInf(sel.MassLo, -1) {
		sel.MassLo, sel.MassHi = sel.MassMin, sel.MassMax
	}
	return nil
}

// divide makes the parts and clears their counts.
func (sel *Selection[T]) divide(sc *par.Scratch) {
	n := len(sel.Mass)
	kept := par.Kept[memory](sc)
	if sel.MassCells.Count > 0 {
		kept.pairs = par.Grown(kept.pairs, n)
		sel.Pairs = kept.pairs
	}
	parts := sc.Team.PartsFor(n)
	per := sel.MassCells.Count + sel.ScoreCells.Count
	kept.counts = par.Grown(kept.counts, parts*per)
	clear(kept.counts)
	kept.parts = par.Grown(kept.parts, parts)
	sel.Parts = kept.parts
	for k := range sel.Parts {
		counts := kept.counts[k*per : (k+1)*per]
		sel.Parts[k] = Part{
			Lo: n * k / parts, Hi: n * (k + 1) / parts,
			Masses: counts[:sel.MassCells.Count], Scores: counts[sel.MassCells.Count:],
		}
	}
}

// Block is a number of events that stay in cache between the passes of checkPart.
const Block = 1 << 11

func (sel *Selection[T]) checkPart(p *Part) (Stats, error) {
	st := emptyStats()
	if sel.Weight != nil {
		lowest, highest, err := sel.checkWeights(p)
		if err != nil {
			return st, err
		}
		st.WeightMin, st.WeightMax = lowest, highest
	}
	tidy := sel.Pairs != nil && sel.MassCells.keyed == nil && sel.ScoreCells.keyed == nil
	for lo := p.Lo; lo < p.Hi; lo += Block {
		hi := min(lo+Block, p.Hi)
		if tidy = tidy && sel.lookAtAll(&st, lo, hi); tidy {
			if sel.cellOf != nil {
				countJoined(p, sel.Pairs[lo:hi], sel.cellOf[lo:hi])
			} else {
				count(p, sel.Pairs[lo:hi])
			}
			continue
		}
		if err := sel.look(&st, lo, hi); err != nil {
			return st, err
		}
		if sel.Pairs != nil {
			sel.countSome(p, lo, hi)
		}
	}
	return st, nil
}

// lookAtAll brings st up to date with the events lo..hi-1, and finds their cells, if all of them
// take part and are good.
func (sel *Selection[T]) lookAtAll(st *Stats, lo, hi int) bool {
	scores := sel.Score
	if scores == nil {
		scores = sel.Mass
	}
	seen := lanes.Look(scores[lo:hi], sel.Mass[lo:hi], sel.ScoreCells.Cells, sel.MassCells.Cells, sel.Pairs[lo:hi])
	if !seen.Number || float64(seen.ScoreMin) < sel.scoreLo || float64(seen.ScoreMax) > sel.scoreHi ||
		float64(seen.MassMin) < max(sel.MassLo, -math.MaxFloat64) || float64(seen.MassMax) > min(sel.MassHi, math.MaxFloat64) {
		return false
	}
	// To -0 is added 0, which makes it 0: which of the two was found says nothing.
	st.merge(&Stats{
		N: hi - lo, ScoreBits: seen.Bits, WeightMin: math.Inf(1), WeightMax: math.Inf(-1),
		MassMin: float64(seen.MassMin) + 0, MassMax: float64(seen.MassMax) + 0,
		ScoreMin: float64(seen.ScoreMin) + 0, ScoreMax: float64(seen.ScoreMax) + 0,
	})
	return true
}

// look brings st up to date with the events lo..hi-1, or returns the error of
// the first bad one.
func (sel *Selection[T]) look(st *Stats, lo, hi int) error {
	// What the loop touches is in locals, which the compiler keeps in registers.
	scores, masses := sel.Score, sel.Mass
	massMin, massMax, scoreMin, scoreMax := T(st.MassMin), T(st.MassMax), T(st.ScoreMin), T(st.ScoreMax)
	var bits uint64
	outside := 0
	for i := lo; i < hi; i++ {
		var s T
		if scores != nil {
			s = scores[i]
		}
		m := masses[i]
		if !(s >= scoreMin && s <= scoreMax) || !(m >= massMin && m <= massMax) {
			// Bad, or beyond all that were good so far, which few are.
			inside, err := sel.checkEvent(i, float64(s), float64(m))
			if err != nil {
				return err
			}
			if !inside {
				outside++
				continue
			}
			massMin, massMax = min(massMin, m), max(massMax, m)
			scoreMin, scoreMax = min(scoreMin, s), max(scoreMax, s)
		}
		if !lanes.IsFloat32[T]() {
			bits |= math.Float64bits(float64(s))
		}
	}
	if lanes.IsFloat32[T]() {
		bits = lanes.SingleBits
	}
	st.N += hi - lo - outside
	st.ScoreBits |= bits
	st.MassMin, st.MassMax = float64(massMin), float64(massMax)
	st.ScoreMin, st.ScoreMax = float64(scoreMin), float64(scoreMax)
	return nil
}

// checkEvent reports whether the mass of event i lies inside the mass range.
func (sel *Selection[T]) checkEvent(i int, s, m float64) (inside bool, err error) {
	if sel.Score != nil && !(s >= sel.scoreLo && s <= sel.scoreHi) {
		return false, sel.badScore(sel.InInput(i), s)
	}
	if m != m && sel.ignoreMissing {
		return false, nil
	}
	if !IsFinite(m) {
		return false, NotFinite("mass", sel.InInput(i), m)
	}
	return m >= sel.MassLo && m <= sel.MassHi, nil
}

// countSome counts those of the events lo..hi-1 that take part, in any grid.
func (sel *Selection[T]) countSome(p *Part, lo, hi int) {
	for i := lo; i < hi; i++ {
		sel.Pairs[i] = NoPair
		if sel.TakesPart(i) {
			scoreCell, massCell := 0, sel.MassCells.Cell(sel.Mass[i])
			if sel.cellOf != nil {
				massCell = int(sel.cellOf[i])
			}
			if sel.Score != nil {
				scoreCell = sel.ScoreCells.Cell(sel.Score[i])
			}
			p.Scores[scoreCell]++
			if sel.cellOf == nil {
				p.Masses[massCell]++
			}
			sel.Pairs[i] = Pair(scoreCell, massCell)
		}
	}
}

// checkWeights returns the lowest and the highest weight of the events of a part that
// take part.
func (sel *Selection[T]) checkWeights(p *Part) (lowest, highest float64, err error) {
	lowest, highest = math.Inf(1), math.Inf(-1)
	for i := p.Lo; i < p.Hi; i++ {
		w := float64(sel.Weight[i])
		if !IsFinite(w) {
			return 0, 0, NotFinite("weight", sel.InInput(i), w)
		}
		if (w < lowest || w > highest) && sel.TakesPart(i) {
			lowest, highest = min(lowest, w), max(highest, w)
		}
	}
	return lowest, highest, nil
}

func (sel *Selection[T]) nothingSelected() error {
	if len(sel.Mass) == 0 {
		return errs.Of(errs.ErrNoEvents, "no event selected: mass is empty (length 0)")
	}
	if math.IsInf(sel.MassLo, -1) {
		return errs.Of(errs.ErrNoEvents, "no event selected: all %d masses of the selected events are NaN, and missing = ignore leaves these out", len(sel.Mass))
	}
	return errs.Of(errs.ErrNoEvents, "no event selected: all %d masses of the selected events lie outside the mass range [%v, %v]: "+
		"check mass_range (or edges) and the unit of mass", len(sel.Mass), sel.MassLo, sel.MassHi)
}

func (sel *Selection[T]) badScore(i int, s float64) error {
	if !IsFinite(s) {
		return NotFinite("score", i, s)
	}
	hint := "widen it, or use score_range=None"
	if sel.scoreLo <= 0 && sel.scoreHi >= 1 { // a sigmoid's results are inside
		hint = "apply a sigmoid to raw outputs, or use score_range=None"
	}
	return errs.Of(errs.ErrScoreRange, "score[%d] = %v lies outside score_range = [%v, %v]: %s", i, s, sel.scoreLo, sel.scoreHi, hint)
}

// NotFinite returns the error of a value of an array.
func NotFinite(name string, i int, value float64) error {
	return errs.Of(errs.ErrNotFinite, "%s[%d] = %v: every %s of a selected event must be finite", name, i, value, name)
}
