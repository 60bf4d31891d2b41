package events

import "math"

// Pair packs the cells of an event's score and mass; NoPair is that of an event
// that takes no part.
func Pair(scoreCell, massCell int) uint32 { return uint32(scoreCell)<<MassCellBits | uint32(massCell) }

const (
	MassCellBits = 16
	MassCellMask = 1<<MassCellBits - 1
	NoPair       = math.MaxUint32
)

// Part is a range of events that one goroutine handles, what it has found out about those that
// take part, or the error of the first bad one, and how many of them fall into each cell.
type Part struct {
	Lo, Hi int
	found  Stats
	failed error
	Masses []uint32
	Scores []uint32
}

// count counts events that have these cells.
func count(p *Part, pairs []uint32) {
	scores, masses := p.Scores, p.Masses
	switch {
	case len(scores) == 1:
		scores[0] += uint32(len(pairs))
		for _, cells := range pairs {
			masses[cells&MassCellMask]++
		}
	case len(masses) == 1:
		for _, cells := range pairs {
			scores[cells>>MassCellBits]++
		}
	default:
		for _, cells := range pairs {
			scores[cells>>MassCellBits]++
			masses[cells&MassCellMask]++
		}
	}
}

// countJoined counts events whose cells of mass are to be these, of several variables.
func countJoined(p *Part, pairs, cells []uint32) {
	scores := p.Scores
	for i, c := range cells[:len(pairs)] {
		scores[pairs[i]>>MassCellBits]++
		pairs[i] |= c
	}
}
