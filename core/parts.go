package core

import "math"

// pair packs the cells of an event's score and mass; noPair is that of an event
// that takes no part.
func pair(scoreCell, massCell int) uint32 { return uint32(scoreCell)<<massCellBits | uint32(massCell) }

const (
	massCellBits = 16
	massCellMask = 1<<massCellBits - 1
	noPair       = math.MaxUint32
)

// part is a range of events that one goroutine handles, what it has found out about those that
// take part, or the error of the first bad one, and how many of them fall into each cell.
type part struct {
	lo, hi int
	found  stats
	failed error
	masses []uint32
	scores []uint32
}

// count counts events that have these cells.
func count(p *part, pairs []uint32) {
	scores, masses := p.scores, p.masses
	switch {
	case len(scores) == 1:
		scores[0] += uint32(len(pairs))
		for _, cells := range pairs {
			masses[cells&massCellMask]++
		}
	case len(masses) == 1: // which nobody asks for
		for _, cells := range pairs {
			scores[cells>>massCellBits]++
		}
	default:
		for _, cells := range pairs {
			scores[cells>>massCellBits]++
			masses[cells&massCellMask]++
		}
	}
}

// countJoined counts events whose cells of mass are to be these, of several variables.
func countJoined(p *part, pairs, cells []uint32) {
	scores := p.scores
	for i, c := range cells[:len(pairs)] {
		scores[pairs[i]>>massCellBits]++
		pairs[i] |= c
	}
}
