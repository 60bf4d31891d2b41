// Package order sorts events by score, as records of one word each, and divides them into chunks that goroutines share.
package order

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
)

// Records are the events that take part in order of score. Each is a word, see radix.Layout.
type Records struct {
	radix.Layout
	Words   []uint64
	Weights []float64 // in order of the words; nil: all weights are 1
	Chunks  []int     // chunk k has the records Chunks[k] .. Chunks[k+1]-1
	Sums    []float64 // of the weights, see Row
	bins    int
	powers  []int     // of two, by which the weights of each bin are multiplied; nil: by 1
	scores  []float64 // in order of the words; nil: the words hold the scores, see radix.Layout.Half
}

// newRecords returns the records of a selection by cell of score and, within a cell, by index, with the starts of the cells
// and the end. It overwrites the counts of the selection.
func newRecords[T events.Float](sel *events.Selection[T], bins int, sc *par.Scratch) (*Records, []uint32) {
	rs := &Records{
		Layout: radix.NewLayout[T](sel.ScoreMin, sel.ScoreMax, len(sel.Score), bins),
		Words:  par.Unset[uint64](&sc.Arena, sel.N),
		bins:   bins, powers: sel.Exponents,
	}
	if sel.Weight != nil {
		rs.Weights = par.Unset[float64](&sc.Arena, sel.N)
	}
	if !rs.Half {
		rs.scores = par.Unset[float64](&sc.Arena, sel.N)
	}
	starts := par.Unset[uint32](&sc.Arena, sel.ScoreCells.Count()+1)
	var start uint32
	if len(sel.Parts) == 1 {
		counts := sel.Parts[0].Scores[:len(starts)-1]
		for c, count := range counts {
			starts[c], counts[c] = start, start
			start += count
		}
	} else {
		for c := range sel.ScoreCells.Count() {
			starts[c] = start
			for k := range sel.Parts { // each part has a place of its own in the cell
				slot := &sel.Parts[k].Scores[c]
				*slot, start = start, start+*slot
			}
		}
	}
	starts[len(starts)-1] = start
	sc.Team.Run(len(sel.Parts), func(k int) {
		room := par.Room()
		defer room.Give()
		p, records := &sel.Parts[k], rs.Words
		next, made := p.Scores, par.Unset[uint64](&room.Arena, fillBlock)
		for lo := p.Lo; lo < p.Hi; lo += fillBlock {
			hi := min(lo+fillBlock, p.Hi)
			pairs, words := sel.Pairs[lo:hi][:hi-lo], made[:hi-lo]
			radix.Records(words, &rs.Layout, sel.Score[lo:hi], pairs, events.BinMask, lo)
			for i, pair := range pairs {
				if pair != events.NoPair {
					slot := &next[pair>>events.BinBits]
					records[*slot] = words[i]
					*slot++
				}
			}
		}
	})
	return rs, starts
}

// fillBlock is the number of records that stay in the nearest cache.
const fillBlock = 512

// Weight returns the weight of record i.
func (rs *Records) Weight(i int) float64 {
	if rs.Weights == nil {
		return 1
	}
	return rs.Weights[i]
}

// Score returns the score of record i.
func (rs *Records) Score(i int) float64 {
	if rs.scores == nil {
		return rs.Number(rs.Words[i])
	}
	return rs.scores[i]
}

// Decode sets the scores and bins of the records lo..hi-1.
func (rs *Records) Decode(lo, hi int, scores []float64, numbers []uint32) {
	words := rs.Words[lo:hi]
	if rs.Half {
		lanes.Decode(words, rs.HalfBase, rs.BinShift, scores, numbers)
		return
	}
	layout := rs.Layout
	for i, r := range words {
		numbers[i] = uint32(layout.Bin(r))
	}
	copy(scores, rs.scores[lo:hi])
}

// Tied reports whether the records i and j have equal scores.
func (rs *Records) Tied(i, j int) bool {
	if rs.Half {
		return rs.Key(rs.Words[i]) == rs.Key(rs.Words[j])
	}
	return rs.scores[i] == rs.scores[j]
}

// Effective returns the number of effective events, (sum w)^2 / sum w^2.
func (rs *Records) Effective() float64 {
	if rs.Weights == nil {
		return float64(len(rs.Words))
	}
	var sum, squares float64
	least := 0
	if rs.powers != nil {
		least = slices.Min(rs.powers)
	}
	for i, w := range rs.Weights {
		if rs.powers != nil {
			w = math.Ldexp(w, least-rs.powers[rs.Bin(rs.Words[i])])
		}
		sum += w
		squares += w * w
	}
	return sum * sum / squares
}
