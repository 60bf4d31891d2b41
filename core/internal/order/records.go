// Package order brings events into the order of their scores, as records of one word each, in chunks that goroutines share.
package order

import (
	"math"
	"sync"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
)

// Records are the events that take part in order of score, a word each, see radix.Layout.
type Records struct {
	radix.Layout
	Words   []uint64
	Weights []float64 // in order of the words; nil: all 1
	Chunks  []int     // chunk k has the records Chunks[k] .. Chunks[k+1]-1, or none

	numbers []float64 // the scores in order of the words; nil: the words hold them whole
	cells   []uint32  // where the words of each cell of scores begin, and the end
	groups  []group   // of cells that are sorted together
}

// memory is that of the records of a call.
type memory struct {
	words            []uint64
	weights, numbers []float64
}

// newRecords returns the records of a selection by cell of score and, within a cell, by index. They use the counts of the
// selection up.
func newRecords[T events.Float](sel *events.Selection[T], bs *bins.Bins, sc *par.Scratch) *Records {
	kept := par.Kept[memory](sc)
	kept.words = par.Grown(kept.words, sel.N)
	rs := par.New(&sc.Arena, Records{
		Layout: radix.NewLayout[T](sel.ScoreMin, sel.ScoreMax, sel.ScoreBits, len(sel.Score), bs.Count()),
		Words:  kept.words, cells: countsToStarts(sel.Parts, sel.ScoreCells.Count, sc),
	})
	if sel.Weight != nil {
		kept.weights = par.Grown(kept.weights, sel.N)
		rs.Weights = kept.weights
	}
	if !rs.Exact() {
		kept.numbers = par.Grown(kept.numbers, sel.N)
		rs.numbers = kept.numbers
	}
	sc.Team.Run(len(sel.Parts), func(k int) {
		p, room := &sel.Parts[k], fillRooms.Get().(*fillRoom)
		defer fillRooms.Put(room)
		for lo := p.Lo; lo < p.Hi; lo += fillBlock {
			fill(rs, room, sel, bs, p.Scores, lo, min(lo+fillBlock, p.Hi))
		}
	})
	return rs
}

// fillBlock is a number of events that stay in the nearest cache between the loops of fill.
const fillBlock = 512

// fillRoom has the bins and the records of a block of events between these loops.
type fillRoom struct {
	bins  [fillBlock]uint32
	words [fillBlock]uint64
}

var fillRooms = sync.Pool{New: func() any { return new(fillRoom) }}

// fill writes the records of the events lo..hi-1: it makes them, and then puts each where next says that the next one of
// its cell goes.
func fill[T events.Float](rs *Records, room *fillRoom, sel *events.Selection[T], bs *bins.Bins, next []uint32, lo, hi int) {
	in, mask, made := sel.Pairs[lo:hi], uint32(events.MassCellMask), room.words[:hi-lo]
	if !bs.Assigned {
		in, mask = room.bins[:hi-lo], math.MaxUint32
		bins.Find(in, bs, sel, lo)
	}
	pack(rs, made, sel.Score[lo:hi], in, mask, lo)
	pairs, records := sel.Pairs[lo:hi][:len(made)], rs.Words
	for i, word := range made {
		if pairs[i] != events.NoPair {
			cell := pairs[i] >> events.MassCellBits
			records[next[cell]] = word
			next[cell]++
		}
	}
}

// pack sets dst to the records of events, the first of which stands at lo; a mask leaves their bins of these numbers.
func pack[T events.Float](rs *Records, dst []uint64, scores []T, numbers []uint32, mask uint32, lo int) {
	if single, ok := any(scores).([]float32); ok && rs.Half {
		lanes.Words(dst, single, numbers, mask, rs.HalfBase, rs.BinShift, lo)
		return
	}
	double, ok := any(scores).([]float64)
	if !ok {
		double = make([]float64, len(scores))
		for i, s := range scores {
			double[i] = float64(s)
		}
	}
	rs.Records(dst, double, numbers, mask, lo)
}

// countsToStarts turns the counts of scores per part and cell into where each part writes its first record of each cell,
// and returns the starts of the cells, with the total at the end.
func countsToStarts(parts []events.Part, cells int, sc *par.Scratch) []uint32 {
	starts := par.Make[uint32](&sc.Arena, cells+1)
	var start uint32
	for c := range cells {
		starts[c] = start
		for k := range parts {
			slot := &parts[k].Scores[c]
			*slot, start = start, start+*slot
		}
	}
	starts[cells] = start
	return starts
}

// Weight returns the weight of record i.
func (rs *Records) Weight(i int) float64 {
	if rs.Weights == nil {
		return 1
	}
	return rs.Weights[i]
}

// Score returns the score of record i.
func (rs *Records) Score(i int) float64 {
	if rs.numbers == nil {
		return rs.Number(rs.Words[i])
	}
	return rs.numbers[i]
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
	if rs.numbers != nil {
		copy(scores, rs.numbers[lo:hi])
		return
	}
	for i, r := range words {
		scores[i] = layout.Number(r)
	}
}

// Tied reports whether the records i and j have equal scores.
func (rs *Records) Tied(i, j int) bool {
	return rs.Key(rs.Words[i]) == rs.Key(rs.Words[j]) && (rs.numbers == nil || rs.numbers[i] == rs.numbers[j])
}

// Effective returns the number of events in effect, (sum w)^2 / sum w^2.
func (rs *Records) Effective() float64 {
	if rs.Weights == nil {
		return float64(len(rs.Words))
	}
	var sum, squares float64
	for _, w := range rs.Weights {
		sum += w
		squares += w * w
	}
	return sum * sum / squares
}
