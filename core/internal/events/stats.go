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

func (s *Stats) merge(other *Stats) {
	s.N += other.N
	s.MassMin, s.MassMax = min(s.MassMin, other.MassMin), max(s.MassMax, other.MassMax)
	s.ScoreMin, s.ScoreMax = min(s.ScoreMin, other.ScoreMin), max(s.ScoreMax, other.ScoreMax)
	s.WeightMin, s.WeightMax = min(s.WeightMin, other.WeightMin), max(s.WeightMax, other.WeightMax)
}
