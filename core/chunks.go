package core

import (
	"sort"
	"sync"

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
func (rs *records[T]) divide(bins int, sc *scratch) {
	size := chunkSize(bins)
	most := len(rs.words)/size + 1
	rs.groups, rs.chunks = par.Make[group](&sc.arena, most)[:0], par.Make[int](&sc.arena, 3*most+1)[:0]
	from := 0
	for c, end := range rs.cells[1:] {
		if int(end-rs.cells[from]) >= size || c == len(rs.cells)-2 {
			rs.addGroup(from, c+1, size)
			from = c + 1
		}
	}
	rs.chunks = append(rs.chunks, len(rs.words))
}

// addGroup makes a group of the cells from..to-1.
func (rs *records[T]) addGroup(from, to, size int) {
	lo, hi := int(rs.cells[from]), int(rs.cells[to])
	rs.groups = append(rs.groups, group{[2]int{from, to}, len(rs.chunks)})
	rs.chunks = append(rs.chunks, lo)
	if hi-lo > 2*size {
		for range 2 * ((hi - lo) / size) {
			rs.chunks = append(rs.chunks, hi) // empty, see cut
		}
	}
}

// cut sets where the chunks of a group, now sorted, begin. Each holds as many records as chunkSize says, or fewer up
// to a tie, all of which is in one chunk. But a tie of more than that has chunks of its own, of less than twice
// that size. Some chunks at the end of the group may be empty.
func (rs *records[T]) cut(first, hi, size int) {
	for k := first; hi-rs.chunks[k] > size; {
		lo := rs.chunks[k]
		from, to := rs.tieAt(lo+size, lo, hi)
		if from > lo {
			k++
			rs.chunks[k] = from
			continue
		}
		for pieces := (to - lo) / size; pieces > 0; pieces-- {
			k++
			lo += (to - lo) / pieces
			rs.chunks[k] = lo
		}
	}
}

// tieAt returns where the records among lo..hi-1 begin and end that have the score of record i.
func (rs *records[T]) tieAt(i, lo, hi int) (from, to int) {
	from = lo + sort.Search(i-lo, func(j int) bool { return rs.tied(lo+j, i) })
	return from, i + sort.Search(hi-i, func(j int) bool { return !rs.tied(i, i+j) })
}

// chunksOfTie returns the chunks from..to-1 that have the events of one score, where those of chunk k have it.
func (rs *records[T]) chunksOfTie(k int) (from, to int) {
	i, after := rs.chunks[k], rs.chunks[k+1:len(rs.chunks)-1]
	from = sort.Search(k, func(j int) bool { return rs.tied(rs.chunks[j], i) })
	return from, k + 1 + sort.Search(len(after), func(j int) bool { return after[j] == len(rs.words) || !rs.tied(i, after[j]) })
}

// sortAndSum sorts the records by score, brings the weights, in the given unit, into the same
// order, and returns the sums of weights by chunk and bin.
func (rs *records[T]) sortAndSum(weight []T, unit float64, bins int, sc *scratch) *sums {
	rs.divide(bins, sc)
	su := newSums(len(rs.chunks), bins, &sc.sums, &sc.arena)
	finish := func(k int) { // what a chunk needs while it is near
		rs.fetchWeights(k, weight, unit)
		rs.addChunk(su.row(k+1), k)
	}
	if weight != nil {
		sc.weights = par.Grown(sc.weights, len(rs.words))
		rs.weights = sc.weights
	}
	sc.team.Run(len(rs.groups), func(g int) {
		of := rs.groups[g]
		radix.Sort(rs.words, rs.cells[of.cells[0]:of.cells[1]+1], &rs.Layout, rs.scores)
		end := rs.endOfGroup(g)
		if end > of.first+1 {
			rs.cut(of.first, int(rs.cells[of.cells[1]]), chunkSize(bins))
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
	sc.team.Run(len(left), func(i int) { finish(left[i]) })
	runningSums(su.totals, bins)
	return su
}

// fewChunks is how many chunks of a group are left to the goroutine that has sorted it.
const fewChunks = 16

// isLarge reports whether a group has more, which all goroutines share.
func (rs *records[T]) isLarge(g int) bool { return rs.endOfGroup(g)-rs.groups[g].first > fewChunks }

// endOfGroup returns the chunk after those of a group.
func (rs *records[T]) endOfGroup(g int) int {
	if g+1 < len(rs.groups) {
		return rs.groups[g+1].first
	}
	return len(rs.chunks) - 1
}

// fetchWeights brings the weights of chunk k into the order of its records. That is a loop of its
// own: weights stand anywhere, and the fewer instructions lie between two, the more of them are on
// their way at a time.
func (rs *records[T]) fetchWeights(k int, weight []T, unit float64) {
	if weight == nil {
		return
	}
	lo, hi, layout := rs.chunks[k], rs.chunks[k+1], rs.Layout
	weights := rs.weights[lo:hi]
	for i, r := range rs.words[lo:hi] {
		weights[i] = float64(weight[layout.Index(r)]) * unit
	}
}

// countRooms hold numbers of events by bin.
var countRooms = sync.Pool{New: func() any { return new([]uint32) }}

// addChunk adds the weights of chunk k to totals, by bin.
func (rs *records[T]) addChunk(totals []float64, k int) {
	lo, hi, layout := rs.chunks[k], rs.chunks[k+1], rs.Layout
	words := rs.words[lo:hi]
	if rs.weights != nil {
		weights := rs.weights[lo:hi]
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
