package core

import (
	"math"
	"math/bits"
)

// Float is the type of scores, masses and weights. Sums run in float64.
type Float interface{ float32 | float64 }

// Events are the arrays of one call, one element an event.
type Events[T Float] struct {
	Score  []T
	Mass   []T     // any unit; mass_range and edges are in the same
	Weight []T     // any finite values; nil: all 1
	Label  []int32 // nil: every event is selected
}

func (ev *Events[T]) checkLengths() error {
	n := len(ev.Score)
	if len(ev.Mass) != n {
		return errorOf(ErrLength, "mass has length %d, but score has length %d", len(ev.Mass), n)
	}
	if ev.Weight != nil && len(ev.Weight) != n {
		return errorOf(ErrLength, "weight has length %d, but score has length %d", len(ev.Weight), n)
	}
	if ev.Label != nil && len(ev.Label) != n {
		return errorOf(ErrLength, "label has length %d, but score has length %d", len(ev.Label), n)
	}
	return nil
}

// selection is one label's events and, after check, what is known of those
// that take part: events of the label with a mass inside the mass range.
type selection[T Float] struct {
	Events[T]
	label            int32
	massLo, massHi   float64 // the mass range
	scoreLo, scoreHi float64 // the lowest and highest score that are no error
	stats
}

// stats describes events that take part.
type stats struct {
	labelled           int // events of the label, in the mass range or not
	n                  int // events that take part
	massMin, massMax   float64
	scoreMin, scoreMax float64
	scoreBits          uint64 // every bit that is set in some score
}

// blockSize is the number of events that a pass over the input handles as one
// piece of work. Sums are taken by block, so that they do not depend on how
// blocks are spread over threads.
const blockSize = 1 << 15

func newSelection[T Float](ev Events[T], label int32, cfg *Config) *selection[T] {
	sel := &selection[T]{Events: ev, label: label}
	sel.massLo, sel.massHi = cfg.MassRange[0], cfg.MassRange[1]
	if cfg.Binning == GivenEdges {
		sel.massLo, sel.massHi = cfg.Edges[0], cfg.Edges[len(cfg.Edges)-1]
	}
	sel.scoreLo = max(cfg.ScoreRange[0], -math.MaxFloat64)
	sel.scoreHi = min(cfg.ScoreRange[1], math.MaxFloat64)
	return sel
}

// takesPart reports whether event i, once checked, enters the loss.
func (sel *selection[T]) takesPart(i int) bool {
	if sel.Label != nil && sel.Label[i] != sel.label {
		return false
	}
	m := float64(sel.Mass[i])
	return m >= sel.massLo && m <= sel.massHi
}

// check looks at every event of the label once: it returns an error for the
// first bad value, and fills stats. With no mass range given, the range
// becomes that of the masses.
func (sel *selection[T]) check() error {
	blocks := blocksOf(len(sel.Mass), blockSize)
	found := make([]stats, blocks)
	failed := make([]error, blocks)
	parallel(blocks, func(k int) {
		lo, hi := block(k, blockSize, len(sel.Mass))
		found[k], failed[k] = sel.checkBlock(lo, hi)
	})
	sel.stats = emptyStats()
	for k := range found {
		if failed[k] != nil {
			return failed[k]
		}
		sel.stats.merge(&found[k])
	}
	if sel.n == 0 {
		return sel.nothingSelected()
	}
	if math.IsInf(sel.massLo, -1) {
		sel.massLo, sel.massHi = sel.massMin, sel.massMax
	}
	return sel.checkMassRange()
}

func (sel *selection[T]) checkBlock(lo, hi int) (stats, error) {
	st := emptyStats()
	for i := lo; i < hi; i++ {
		if sel.Label != nil && sel.Label[i] != sel.label {
			continue
		}
		m := float64(sel.Mass[i])
		if !(m >= -math.MaxFloat64 && m <= math.MaxFloat64) {
			return st, notFinite("mass", i, m)
		}
		if sel.Weight != nil {
			if w := float64(sel.Weight[i]); !finite(w) {
				return st, notFinite("weight", i, w)
			}
		}
		inRange := m >= sel.massLo && m <= sel.massHi
		if sel.Score != nil {
			s := float64(sel.Score[i])
			if !(s >= sel.scoreLo && s <= sel.scoreHi) {
				return st, sel.badScore(i, s)
			}
			if inRange {
				st.scoreBits |= math.Float64bits(s)
				if s < st.scoreMin {
					st.scoreMin = s
				}
				if s > st.scoreMax {
					st.scoreMax = s
				}
			}
		}
		st.labelled++
		if inRange {
			st.n++
			if m < st.massMin {
				st.massMin = m
			}
			if m > st.massMax {
				st.massMax = m
			}
		}
	}
	return st, nil
}

func emptyStats() stats {
	inf := math.Inf(1)
	return stats{massMin: inf, massMax: -inf, scoreMin: inf, scoreMax: -inf}
}

func (st *stats) merge(other *stats) {
	st.labelled += other.labelled
	st.n += other.n
	st.massMin = min(st.massMin, other.massMin)
	st.massMax = max(st.massMax, other.massMax)
	st.scoreMin = min(st.scoreMin, other.scoreMin)
	st.scoreMax = max(st.scoreMax, other.scoreMax)
	st.scoreBits |= other.scoreBits
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
	switch {
	case len(sel.Mass) == 0:
		return errorOf(ErrNoEvents, "no event selected: the arrays are empty (length 0)")
	case sel.labelled == 0:
		return errorOf(ErrNoEvents, "no event selected: none of the %d values of label equals background_label = %d: "+
			"use larger batches, or check background_label", len(sel.Mass), sel.label)
	default:
		return errorOf(ErrNoEvents, "no event selected: all %d masses of the selected events lie outside the mass range [%v, %v]: "+
			"check mass_range (or edges) and the unit of mass", sel.labelled, sel.massLo, sel.massHi)
	}
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

// blocksOf returns the number of blocks of the given size that n elements make.
func blocksOf(n, size int) int { return (n + size - 1) / size }

// block returns the k-th of those blocks as a half-open range.
func block(k, size, n int) (lo, hi int) { return k * size, min((k+1)*size, n) }

// bitsFor returns the number of bits that numbers 0..n-1 need.
func bitsFor(n int) int { return bits.Len64(uint64(n - 1)) }
