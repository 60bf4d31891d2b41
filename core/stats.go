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
