package order

import (
	"sort"
	"sync"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
)

// chunkSize is how many records a chunk holds about: so many that what a chunk
// costs whatever its size does not matter, and so few that the rounding errors of
// its running sums do not either.
func chunkSize(bins int) int { return max(1<<11, 64*bins) }

// group is cells that are sorted together, by one goroutine.
type group struct {
	cells [2]int // cells cells[0] .. cells[1]-1
	first int    // the first of its chunks; its last is before that of the next group
}

// divide makes groups of whole cells, most of the size of a chunk. A cell of many
// records is a group of many chunks: where they begin is known once it is sorted, see cut.
func (rs *Records) divide(bins int, sc *par.Scratch) {
	size := chunkSize(bins)
	most := len(rs.Words)/size + 1
	rs.groups, rs.Chunks = par.Make[group](&sc.Arena, most)[:0], par.Make[int](&sc.Arena, 3*most+1)[:0]
	from := 0
	for c, end := range rs.cells[1:] {
		if int(end-rs.cells[from]) >= size || c == len(rs.cells)-2 {
			rs.addGroup(from, c+1, size)
			from = c + 1
		}
	}
	rs.Chunks = append(rs.Chunks, len(rs.Words))
}

// addGroup makes a group of the cells from..to-1.
func (rs *Records) addGroup(from, to, size int) {
	lo, hi := int(rs.cells[from]), int(rs.cells[to])
	rs.groups = append(rs.groups, group{[2]int{from, to}, len(rs.Chunks)})
	rs.Chunks = append(rs.Chunks, lo)
	if hi-lo > 2*size {
		for range 2 * ((hi - lo) / size) {
			rs.Chunks = append(rs.Chunks, hi) // empty, see cut
		}
	}
}

// cut sets where the chunks of a group, now sorted, begin. Each holds as many records as chunkSize says, or fewer up
// to a tie, all of which is in one chunk. But a tie of more than that has chunks of its own, of less than twice
// that size. Some chunks at the end of the group may be empty.
func (rs *Records) cut(first, hi, size int) {
	for k := first; hi-rs.Chunks[k] > size; {
		lo := rs.Chunks[k]
		from, to := rs.TieAt(lo+size, lo, hi)
		if from > lo {
			k++
			rs.Chunks[k] = from
			continue
		}
		for pieces := (to - lo) / size; pieces > 0; pieces-- {
			k++
			lo += (to - lo) / pieces
			rs.Chunks[k] = lo
		}
	}
}

// TieAt returns where the records among lo..hi-1 begin and end that have the score of record i.
func (rs *Records) TieAt(i, lo, hi int) (from, to int) {
	from = lo + sort.Search(i-lo, func(j int) bool { return rs.Tied(lo+j, i) })
	return from, i + sort.Search(hi-i, func(j int) bool { return !rs.Tied(i, i+j) })
}

// ChunksOfTie returns the chunks from..to-1 that have the events of one score, where those of chunk k have it.
func (rs *Records) ChunksOfTie(k int) (from, to int) {
	i, after := rs.Chunks[k], rs.Chunks[k+1:len(rs.Chunks)-1]
	from = sort.Search(k, func(j int) bool { return rs.Tied(rs.Chunks[j], i) })
	return from, k + 1 + sort.Search(len(after), func(j int) bool { return after[j] == len(rs.Words) || !rs.Tied(i, after[j]) })
}

// Sort returns the records of a selection in order of score, with weights in its unit, and the sums of these by chunk
// and bin.
func Sort[T events.Float](sel *events.Selection[T], bs *bins.Bins, sc *par.Scratch) (*Records, *Sums) {
	rs, nb, unit := newRecords(sel, bs, sc), bs.Count(), sel.Unit()
	rs.divide(nb, sc)
	su := newSums(len(rs.Chunks), nb, sc)
	finish := func(k int) { // what a chunk needs while it is near
		fetchWeights(rs, k, sel.Weight, unit)
		rs.addChunk(su.Row(k+1), k)
	}
	sc.Team.Run(len(rs.groups), func(g int) {
		of := rs.groups[g]
		radix.Sort(rs.Words, rs.cells[of.cells[0]:of.cells[1]+1], &rs.Layout, sel.Score)
		fetchNumbers(rs, int(rs.cells[of.cells[0]]), int(rs.cells[of.cells[1]]), sel.Score)
		end := rs.endOfGroup(g)
		if end > of.first+1 {
			rs.cut(of.first, int(rs.cells[of.cells[1]]), chunkSize(nb))
		}
		if !rs.isLarge(g) {
			for k := of.first; k < end; k++ {
				finish(k)
			}
		}
	})
	var left []int
	for g, of := range rs.groups {
		if rs.isLarge(g) {
			for k := of.first; k < rs.endOfGroup(g); k++ {
				left = append(left, k)
			}
		}
	}
	sc.Team.Run(len(left), func(i int) { finish(left[i]) })
	addRows(su.Totals, nb)
	return rs, su
}

// fetchNumbers brings the scores of the records lo..hi-1 into their order, where words do not hold them whole.
func fetchNumbers[T events.Float](rs *Records, lo, hi int, scores []T) {
	if rs.numbers == nil {
		return
	}
	mask, numbers := rs.IndexMask, rs.numbers[lo:hi]
	for i, r := range rs.Words[lo:hi] {
		numbers[i] = float64(scores[r&mask])
	}
}

// fewChunks is how many chunks of a group are left to the goroutine that has sorted it.
const fewChunks = 16

// isLarge reports whether a group has more, which all goroutines share.
func (rs *Records) isLarge(g int) bool { return rs.endOfGroup(g)-rs.groups[g].first > fewChunks }

// endOfGroup returns the chunk after those of a group.
func (rs *Records) endOfGroup(g int) int {
	if g+1 < len(rs.groups) {
		return rs.groups[g+1].first
	}
	return len(rs.Chunks) - 1
}

// fetchWeights brings the weights of chunk k into the order of its records. That is a loop of its
// own: weights stand anywhere, and the fewer instructions lie between two, the more of them are on
// their way at a time.
func fetchWeights[T events.Float](rs *Records, k int, weight []T, unit float64) {
	if weight == nil {
		return
	}
	lo, hi, mask := rs.Chunks[k], rs.Chunks[k+1], rs.IndexMask
	weights := rs.Weights[lo:hi]
	for i, r := range rs.Words[lo:hi] {
		weights[i] = float64(weight[r&mask]) * unit
	}
}

// countRooms hold numbers of events by bin.
var countRooms = sync.Pool{New: func() any { return new([]uint32) }}

// addChunk adds the weights of chunk k to totals, by bin.
func (rs *Records) addChunk(totals []float64, k int) {
	lo, hi, layout := rs.Chunks[k], rs.Chunks[k+1], rs.Layout
	words := rs.Words[lo:hi]
	if rs.Weights != nil {
		weights := rs.Weights[lo:hi]
		for i, r := range words {
			totals[layout.Bin(r)] += weights[i]
		}
		return
	}
	room := countRooms.Get().(*[]uint32)
	defer countRooms.Put(room)
	counts := par.Grown(*room, len(totals))
	*room = counts
	clear(counts)
	for _, r := range words {
		counts[layout.Bin(r)]++
	}
	for b, count := range counts {
		totals[b] = float64(count)
	}
}
