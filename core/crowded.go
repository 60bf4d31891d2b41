package core

import (
	"sync/atomic"

	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
)

// A cell of more records than crowdedCell, and than one in crowdedShare of all, would be too many for the one goroutine
// that sorts it: others would wait.
const (
	crowdedCell  = 1 << 15
	crowdedShare = 64
)

// splitCrowded divides cells of too many records until they have few, or one score, and need not be sorted. What has
// different scores of one cut key, see radix.Layout, stays one cell.
func (rs *records[T]) splitCrowded(sc *scratch) {
	if len(rs.words) <= crowdedCell {
		return
	}
	most := uint32(max(crowdedCell, len(rs.words)/crowdedShare))
	crowded := false
	for c, lo := range rs.cells[:len(rs.cells)-1] {
		crowded = crowded || rs.cells[c+1]-lo > most
	}
	if !crowded {
		return
	}
	all := rs.cells
	rs.cells = par.Make[uint32](&sc.arena, len(all))[:0]
	var split func(lo, hi uint32)
	split = func(lo, hi uint32) {
		words := rs.words[lo:hi]
		if hi-lo > most {
			sc.spare = par.Grown(sc.spare, len(words))
			if starts := radix.Split(words, sc.spare, &rs.Layout, sc.team.Run); starts != nil {
				for c, start := range starts[:len(starts)-1] {
					split(lo+start, lo+starts[c+1])
				}
				return
			}
			if rs.oneNumber(words, sc.team) {
				rs.settled = append(rs.settled, len(rs.cells))
			}
		}
		rs.cells = append(rs.cells, lo)
	}
	for c, lo := range all[:len(all)-1] {
		split(lo, all[c+1])
	}
	rs.cells = append(rs.cells, all[len(all)-1])
}

// oneNumber reports whether records of equal keys have equal scores too.
func (rs *records[T]) oneNumber(words []uint64, team *par.Team) bool {
	if rs.Exact() {
		return true
	}
	var differ atomic.Bool
	score := rs.scores[rs.Index(words[0])]
	team.Blocks(len(words), radix.SplitPart, func(lo, hi int) {
		for _, r := range words[lo:hi] {
			if rs.scores[rs.Index(r)] != score {
				differ.Store(true)
				return
			}
		}
	})
	return !differ.Load()
}
