package core

import (
	"math"
	"sync"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
)

// records are the events that take part, a word each, see radix.Layout. Once they are
// sorted they are in order of score, and divided into chunks.
type records[T Float] struct {
	radix.Layout
	words   []uint64
	weights []float64 // in order of words; nil: all 1
	scores  []T       // by index
	cells   []uint32  // where the words of each cell of scores begin, and the end
	groups  []group   // of cells that are sorted together
	chunks  []int     // chunk k has the words chunks[k] .. chunks[k+1]-1, or none
}

// scoreCellsFor returns the number of cells into which records go. As long as
// all records fit in a core's cache, they go to cells of a few, which are all but
// sorted; more records go to cells that are sorted by themselves, in cache.
func scoreCellsFor(n int) int {
	if n <= fewRecords {
		return powerOfTwo(n/2, 1, 1<<13)
	}
	return powerOfTwo(n/1024, 1<<8, 1<<11)
}

const fewRecords = 1 << 14

// newRecords returns the records of a selection by cell of score and, within a cell,
// by index. They use the counts of the selection up.
func newRecords[T Float](sel *selection[T], bs *bins, sc *scratch) *records[T] {
	sc.records = par.Grown(sc.records, sel.n)
	rs := par.New(&sc.arena, records[T]{
		Layout: radix.NewLayout[T](sel.scoreMin, sel.scoreMax, sel.scoreBits, len(sel.Score), bs.count()),
		words:  sc.records, scores: sel.Score, cells: countsToStarts(sel.parts, sel.scoreCells.count, sc),
	})
	sc.team.Run(len(sel.parts), func(k int) {
		p, room := &sel.parts[k], fillRooms.Get().(*fillRoom)
		defer fillRooms.Put(room)
		for lo := p.lo; lo < p.hi; lo += fillBlock {
			rs.fill(room, sel, bs, p.scores, lo, min(lo+fillBlock, p.hi))
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

// fill writes the records of the events lo..hi-1: it makes them, and then puts each where next
// says that the next one of its cell goes.
func (rs *records[T]) fill(room *fillRoom, sel *selection[T], bs *bins, next []uint32, lo, hi int) {
	in, mask, made := sel.cellsOf[lo:hi], uint32(massCellMask), room.words[:hi-lo]
	if !bs.assigned {
		in, mask = room.bins[:hi-lo], math.MaxUint32
		binsOfEvents(in, bs, sel, lo)
	}
	rs.make(made, sel.Score[lo:hi], in, mask, lo)
	pairs, records := sel.cellsOf[lo:hi][:len(made)], rs.words
	for i, word := range made {
		if pairs[i] != noPair {
			cell := pairs[i] >> massCellBits
			records[next[cell]] = word
			next[cell]++
		}
	}
}

// make sets dst to the records of events, of which the first stands at lo, and whose bins are
// what a mask leaves of these.
func (rs *records[T]) make(dst []uint64, scores []T, bins []uint32, mask uint32, lo int) {
	if single, ok := any(scores).([]float32); ok && rs.Half {
		lanes.Words(dst, single, bins, mask, rs.HalfBase, rs.BinShift, lo)
		return
	}
	layout := rs.Layout
	for i, s := range scores {
		dst[i] = layout.Record(float64(s), int(bins[i]&mask), lo+i)
	}
}

// countsToStarts turns the counts of scores per part and cell into where
// each part writes its first record of each cell, and returns the starts
// of the cells, with the total at the end.
func countsToStarts(parts []part, cells int, sc *scratch) []uint32 {
	starts := par.Make[uint32](&sc.arena, cells+1)
	var start uint32
	if len(parts) == 1 {
		for c, count := range parts[0].scores[:cells] {
			starts[c], parts[0].scores[c] = start, start
			start += count
		}
	} else {
		for c := range cells {
			starts[c] = start
			for k := range parts {
				slot := &parts[k].scores[c]
				*slot, start = start, start+*slot
			}
		}
	}
	starts[cells] = start
	return starts
}

func (rs *records[T]) weight(i int) float64 {
	if rs.weights == nil {
		return 1
	}
	return rs.weights[i]
}

// step returns what crossing record i does, where an event of weight 1 moves F_b by
// unit[b].
func (rs *records[T]) step(i int, unit []float64) step {
	b := rs.Bin(rs.words[i])
	e := rs.weight(i) * unit[b]
	return step{b, e, e * e}
}

func (rs *records[T]) score(i int) float64 {
	if rs.Exact() {
		return rs.Number(rs.words[i])
	}
	return float64(rs.scores[rs.Index(rs.words[i])])
}

// decode sets the scores and bins of the records lo..hi-1.
func (rs *records[T]) decode(lo, hi int, scores []float64, bins []uint32) {
	words := rs.words[lo:hi]
	if rs.Half {
		lanes.Decode(words, rs.HalfBase, rs.BinShift, scores, bins)
	} else {
		layout, exact := rs.Layout, rs.Exact()
		for i, r := range words {
			bins[i] = uint32(layout.Bin(r))
			if exact {
				scores[i] = layout.Number(r)
			} else {
				scores[i] = float64(rs.scores[layout.Index(r)])
			}
		}
	}
}

// tied reports whether the records i and j have equal scores.
func (rs *records[T]) tied(i, j int) bool {
	a, b := rs.words[i], rs.words[j]
	if rs.Key(a) != rs.Key(b) {
		return false
	}
	return rs.Exact() || rs.scores[rs.Index(a)] == rs.scores[rs.Index(b)]
}

// endOfTie returns the end of the records from i on, and below hi, whose score
// is that of record i.
func (rs *records[T]) endOfTie(i, hi int) int {
	end := i + 1
	for end < hi && rs.Key(rs.words[i]) == rs.Key(rs.words[end]) && rs.tied(i, end) {
		end++
	}
	return end
}

// endOfBlock returns where a block of about size records ends that begins at lo: all of one tie are
// in a block.
func (rs *records[T]) endOfBlock(lo, hi, size int) int {
	if hi-lo <= size {
		return hi
	}
	at := lo + size
	for at > lo && rs.tied(at-1, at) {
		at--
	}
	if at == lo {
		return rs.endOfTie(lo, hi)
	}
	return at
}
