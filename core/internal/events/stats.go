package events

import "math"

// Stats describes the events that take part.
type Stats struct {
	N                  int
	MassMin, MassMax   float64
	ScoreMin, ScoreMax float64
	WeightMin          float64
	WeightMax          float64
}

func emptyStats() Stats {
	inf := math.Inf(1)
	return Stats{MassMin: inf, MassMax: -inf, ScoreMin: inf, ScoreMax: -inf, WeightMin: inf, WeightMax: -inf}
}

func (st *Stats) merge(other *Stats) {
	st.N += other.N
	st.MassMin, st.MassMax = min(st.MassMin, other.MassMin), max(st.MassMax, other.MassMax)
	st.ScoreMin, st.ScoreMax = min(st.ScoreMin, other.ScoreMin), max(st.ScoreMax, other.ScoreMax)
	st.WeightMin, st.WeightMax = min(st.WeightMin, other.WeightMin), max(st.WeightMax, other.WeightMax)
}
