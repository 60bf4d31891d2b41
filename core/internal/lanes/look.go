package lanes

import "math"

// Cells are cells of equal width. A number x is in cell (x - Lo) Scale, rounded down, but at least in cell 0 and at most in cell
// Last.
type Cells[T Float] struct{ Lo, Scale, Last T }

// Count returns the number of cells.
func (ce *Cells[T]) Count() int { return int(ce.Last) + 1 }

// Of returns the cell of x. A larger x never has a lower cell, however it is rounded.
func (ce *Cells[T]) Of(x T) uint32 {
	c := (x - ce.Lo) * ce.Scale
	if c < ce.Last {
		if c > 0 {
			return uint32(c)
		}
		return 0
	}
	return uint32(ce.Last)
}

// Seen is the result of Look.
type Seen[T Float] struct {
	ScoreMin, ScoreMax, MassMin, MassMax T
	Number                               bool // no score and no mass is a NaN; if one is, the other fields are not set
}

// look adds events to what was seen of others.
type look[T Float] func(seen Seen[T], scores, masses []T, ofScore, ofMass Cells[T], pairs []uint32) Seen[T]

var (
	look32 look[float32] = lookGo[float32]
	look64 look[float64] = lookGo[float64]
)

// BinBits is the number of the lower bits of a pair.
const BinBits = 19

// Look finds the ranges of scores and masses, of at least one event, and sets pairs to their cells: the cell of the mass in
// the lower BinBits bits, and the cell of the score above them.
func Look[T Float](scores, masses []T, ofScore, ofMass Cells[T], pairs []uint32) Seen[T] {
	of, ok := any(look32).(look[T])
	if !ok {
		of = any(look64).(look[T])
	}
	inf := T(math.Inf(1))
	return of(Seen[T]{inf, -inf, inf, -inf, true}, scores, masses, ofScore, ofMass, pairs)
}

func lookGo[T Float](seen Seen[T], scores, masses []T, ofScore, ofMass Cells[T], pairs []uint32) Seen[T] {
	sMin, sMax, mMin, mMax := seen.ScoreMin, seen.ScoreMax, seen.MassMin, seen.MassMax
	masses, pairs = masses[:len(scores)], pairs[:len(scores)]
	for i, s := range scores {
		m := masses[i]
		if !(s >= sMin && s <= sMax) || !(m >= mMin && m <= mMax) {
			if s != s || m != m {
				seen.Number = false
				return seen
			}
			sMin, sMax, mMin, mMax = min(sMin, s), max(sMax, s), min(mMin, m), max(mMax, m)
		}
	}
	for i, s := range scores {
		pairs[i] = ofScore.Of(s)<<BinBits | ofMass.Of(masses[i])
	}
	return Seen[T]{sMin, sMax, mMin, mMax, seen.Number}
}
