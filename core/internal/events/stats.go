package events

import "math"

// Stats describes events that take part.
type Stats struct {
	N                  int // events that take part
	MassMin, MassMax   float64
	ScoreMin, ScoreMax float64
	ScoreBits          uint64 // every bit that is set in some score
	WeightMin          float64
	WeightMax          float64
}

func emptyStats() Stats {
	inf := math.Inf(1)
	return Stats{MassMin: inf, MassMax: -inf, ScoreMin: inf, ScoreMax: -inf, WeightMin: inf, WeightMax: -inf}
}

func (st *Stats) merge(other *Stats) {
	st.N += other.N
	st.MassMin = min(st.MassMin, other.MassMin)
	st.MassMax = max(st.MassMax, other.MassMax)
	st.ScoreMin = min(st.ScoreMin, other.ScoreMin)
	st.ScoreMax = max(st.ScoreMax, other.ScoreMax)
	st.ScoreBits |= other.ScoreBits
	st.WeightMin = min(st.WeightMin, other.WeightMin)
	st.WeightMax = max(st.WeightMax, other.WeightMax)
}
