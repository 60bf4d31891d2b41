package sorted

import (
	"sort"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// Records are the events that take part in order of score. Each is a word, see Layout.
type Records struct {
	Layout
	Words   []uint64
	Weights []float64 // in order of the words; nil: all weights are 1
	Chunks  []int     // chunk k has the records Chunks[k] .. Chunks[k+1]-1
	Sums    []float64 // of the weights, see Row
	count   int       // of the bins
	scores  []float64 // in order of the words; nil: the words hold the scores
}

// Sort returns the records of a selection in order of score, with weights in its unit, and their sums by chunk and bin.
func Sort[T events.Float](sel *events.Selection[T], bins int, sc *par.Scratch) *Records {
	rs := &Records{Layout: newLayout[T](sel.ScoreSpan.Lo, sel.ScoreSpan.Hi, len(sel.Score), bins), count: bins}
	if sel.Weight != nil {
		rs.Weights = par.Unset[float64](&sc.Arena, sel.N)
	}
	if !rs.half {
		rs.scores = par.Unset[float64](&sc.Arena, sel.N)
	}
	var starts []uint32
	rs.Words, starts = byCell(sel, rs.Layout, sc)
	size, cells, unit := chunkSize(bins), len(starts)-1, sel.Unit()
	sc.Blocks(cells, max(1, size*cells/sel.N), func(first, end int) {
		cells := starts[first : end+1]
		sortCells(rs.Words, cells, &rs.Layout, sel.Score)
		lo, hi := cells[0], cells[len(cells)-1]
		if rs.scores != nil {
			fetch(rs.scores[lo:hi], rs.Words[lo:hi], rs.IndexMask, sel.Score, 1)
		}
		if rs.Weights != nil {
			fetch(rs.Weights[lo:hi], rs.Words[lo:hi], rs.IndexMask, sel.Weight, unit)
		}
	})
	rs.divide(sc)
	return rs
}

// fetch brings numbers of the events, times a unit, into the order of the words. The loop does nothing else, so that many of
// these scattered reads are under way at a time.
func fetch[T events.Float](dst []float64, words []uint64, mask uint64, from []T, unit float64) {
	for i, r := range words[:len(dst)] {
		dst[i] = float64(from[r&mask])*unit + 0 // which turns -0 into 0
	}
}

// byCell returns the records of a selection by cell of score and, within a cell, by index, with the starts of the cells
// and the end.
func byCell[T events.Float](sel *events.Selection[T], layout Layout, sc *par.Scratch) (records []uint64, starts []uint32) {
	records = par.Unset[uint64](&sc.Arena, sel.N)
	cells, last := sel.ScoreCells.Count(), len(sel.Parts)-1
	starts = par.Unset[uint32](&sc.Arena, cells+1)
	next := make([][]uint32, last+1) // of each part and cell: the place of the next event
	for k := range next[:last] {
		next[k] = par.Unset[uint32](&sc.Arena, cells)
	}
	starts[0], next[last] = 0, starts[1:] // in the end the places after the last part are the starts of the next cells
	var start uint32
	if last == 0 {
		for c, count := range sel.Parts[0].ScoreCounts {
			starts[c+1], start = start, start+count
		}
	}
	for c := 0; c < cells && last > 0; c++ {
		for k := range next {
			next[k][c], start = start, start+sel.Parts[k].ScoreCounts[c]
		}
	}
	sc.Run(len(sel.Parts), func(k int) {
		room := par.Room()
		defer room.Give()
		p, next, made := &sel.Parts[k], next[k], par.Unset[uint64](&room.Arena, par.Block)
		for lo := p.Lo; lo < p.Hi; lo += par.Block {
			hi := min(lo+par.Block, p.Hi)
			pairs, words := sel.Pairs[lo:hi][:hi-lo], made[:hi-lo]
			pack(words, layout, sel.Score[lo:hi], pairs, events.BinMask, lo)
			for i, pair := range pairs {
				if pair != events.NoPair {
					slot := &next[pair>>events.BinBits]
					records[*slot] = words[i]
					*slot++
				}
			}
		}
	})
	return records, starts
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
	if rs.half {
		return float64(lanes.HalfValue(uint32(rs.Words[i]>>32) + rs.halfBase))
	}
	return rs.scores[i]
}

// Decode sets the scores and bins of the records lo..hi-1.
func (rs *Records) Decode(lo, hi int, scores []float64, bins []uint32) {
	words := rs.Words[lo:hi]
	if rs.half {
		lanes.Decode(words, rs.halfBase, rs.binShift, scores, bins)
		return
	}
	layout := rs.Layout
	for i, r := range words {
		bins[i] = uint32(layout.Bin(r))
	}
	copy(scores, rs.scores[lo:hi])
}

// Tied reports whether the records i and j have equal scores.
func (rs *Records) Tied(i, j int) bool { return rs.Score(i) == rs.Score(j) }

// TieAt returns where the records among lo..hi-1 begin and end that have the score of record i.
func (rs *Records) TieAt(i, lo, hi int) (from, to int) {
	from = i
	if i > lo && rs.Tied(i-1, i) {
		from = lo + sort.Search(i-lo, func(j int) bool { return rs.Tied(lo+j, i) })
	}
	return from, i + sort.Search(hi-i, func(j int) bool { return !rs.Tied(i, i+j) })
}

// chunkSize returns the usual number of records of a chunk. With fewer the fixed cost of a chunk would matter, with more the rounding errors
// of its running sums.
func chunkSize(bins int) int { return max(1<<11, 16*bins) }

// divide divides the sorted records into chunks of about the usual size, and adds up the weights of each. A tie is in one chunk, unless
// it has more records than that: then it has chunks of its own.
func (rs *Records) divide(sc *par.Scratch) {
	n, size := len(rs.Words), chunkSize(rs.count)
	rs.Chunks = make([]int, 0, 3*(n/size)+2)
	for lo := 0; lo < n; {
		rs.Chunks = append(rs.Chunks, lo)
		end := rs.EndOfBlock(lo, n, size)
		for pieces := (end - lo) / size; pieces > 1; pieces-- {
			lo += (end - lo) / pieces
			rs.Chunks = append(rs.Chunks, lo)
		}
		lo = end
	}
	rs.Chunks = append(rs.Chunks, n)
	rs.Sums = par.Make[float64](&sc.Arena, len(rs.Chunks)*rs.count)
	sc.Run(len(rs.Chunks)-1, func(k int) {
		lo, layout, totals := rs.Chunks[k], rs.Layout, rs.Row(rs.Sums, k+1)
		words := rs.Words[lo:rs.Chunks[k+1]]
		if rs.Weights == nil {
			for _, r := range words {
				totals[layout.Bin(r)]++
			}
			return
		}
		weights := rs.Weights[lo:][:len(words)]
		for i, r := range words {
			totals[layout.Bin(r)] += weights[i]
		}
	})
	addRows(rs.Sums, rs.count)
}

// ChunksOfTie returns the chunks from..to-1 of one score, if all events of chunk k have this score.
func (rs *Records) ChunksOfTie(k int) (from, to int) {
	i, after := rs.Chunks[k], rs.Chunks[k+1:len(rs.Chunks)-1]
	from = sort.Search(k, func(j int) bool { return rs.Tied(rs.Chunks[j], i) })
	return from, k + 1 + sort.Search(len(after), func(j int) bool { return !rs.Tied(i, after[j]) })
}

// EndOfBlock returns the end of a block of about size records from lo on, which has all records of each tie.
func (rs *Records) EndOfBlock(lo, hi, size int) int {
	if hi-lo <= size {
		return hi
	}
	if !rs.Tied(lo+size-1, lo+size) {
		return lo + size
	}
	from, to := rs.TieAt(lo+size, lo, hi)
	if from > lo {
		return from
	}
	return to
}

// Row returns, of Sums or other rows, the sums over the records before chunk k, by bin. The last row is for all records. A chunk starts
// from its row, and not from the end of the chunk before it, so that rounding errors do not grow with the number of events, and the
// order in which chunks are walked does not change a bit.
func (rs *Records) Row(rows []float64, k int) []float64 {
	if rows == nil {
		return nil
	}
	return rows[k*rs.count : (k+1)*rs.count]
}

// Totals returns the sums of weights over all records.
func (rs *Records) Totals() []float64 { return rs.Row(rs.Sums, len(rs.Chunks)-1) }

// addRows adds to each row of nb numbers the row before it.
func addRows(rows []float64, nb int) {
	for k := nb; k < len(rows); k++ {
		rows[k] += rows[k-nb]
	}
}

// Powers returns the sums of the squares of the steps of the events, in rows like Sums, and the sums of their third powers over each bin. An
// event of weight 1 in bin b has the step step[b].
func (rs *Records) Powers(step []float64, sc *par.Scratch) (squares, thirds []float64) {
	chunks, nb := len(rs.Chunks)-1, rs.count
	squares, thirds = par.Make[float64](&sc.Arena, (chunks+1)*nb), par.Make[float64](&sc.Arena, (chunks+1)*nb)
	sc.Run(chunks, func(k int) {
		lo, row := rs.Chunks[k], (k+1)*nb
		squares, thirds := squares[row:row+nb], thirds[row:row+nb]
		for i, r := range rs.Words[lo:rs.Chunks[k+1]] {
			b := rs.Bin(r)
			e := rs.Weights[lo+i] * step[b]
			squares[b] += e * e
			thirds[b] += e * e * e
		}
	})
	addRows(squares, nb)
	addRows(thirds, nb)
	return squares, thirds[chunks*nb:]
}
