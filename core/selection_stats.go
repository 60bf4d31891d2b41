package core

import "math"

// stats describes events that take part.
type stats struct {
	n                  int // events that take part
	massMin, massMax   float64
	scoreMin, scoreMax float64
	scoreBits          uint64 // every bit that is set in some score
	weightMin          float64
	weightMax          float64
}

func emptyStats() stats {
	inf := math.Inf(1)
	return stats{massMin: inf, massMax: -inf, scoreMin: inf, scoreMax: -inf, weightMin: inf, weightMax: -inf}
}

func (st *stats) merge(other *stats) {
	st.n += other.n
	st.massMin = min(st.massMin, other.massMin)
	st.massMax = max(st.massMax, other.massMax)
	st.scoreMin = min(st.scoreMin, other.scoreMin)
	st.scoreMax = max(st.scoreMax, other.scoreMax)
	st.scoreBits |= other.scoreBits
	st.weightMin = min(st.weightMin, other.weightMin)
	st.weightMax = max(st.weightMax, other.weightMax)
}

func (sel *selection[T]) checkMassRange() error {
	if sel.massLo == sel.massHi {
		return errorOf(ErrBin, "mass: all %d selected events have the same mass %v, so no range of masses can be binned: "+
			"give mass_range or edges, or a mass that varies", sel.n, sel.massLo)
	}
	if !finite(sel.massHi - sel.massLo) {
		return errorOf(ErrOverflow, "mass: the selected events span [%v, %v], which is too wide for double precision", sel.massLo, sel.massHi)
	}
	return nil
}

func (sel *selection[T]) nothingSelected() error {
	if len(sel.Mass) == 0 {
		return errorOf(ErrNoEvents, "no event selected: the arrays are empty (length 0)")
	}
	return errorOf(ErrNoEvents, "no event selected: all %d masses of the selected events lie outside the mass range [%v, %v]: "+
		"check mass_range (or edges) and the unit of mass", len(sel.Mass), sel.massLo, sel.massHi)
}

func (sel *selection[T]) badScore(i int, s float64) error {
	if !finite(s) {
		return notFinite("score", i, s)
	}
	return errorOf(ErrScoreRange, "score[%d] = %v lies outside score_range = [%v, %v]: "+
		"apply a sigmoid to raw outputs, or use score_range=None", i, s, sel.scoreLo, sel.scoreHi)
}

func notFinite(name string, i int, value float64) error {
	return errorOf(ErrNotFinite, "%s[%d] = %v: every %s of a selected event must be finite", name, i, value, name)
}
