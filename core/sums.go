package core

import "github.com/libmode/libmode/core/internal/par"

// sums are sums over the records before each chunk, by bin: a row a chunk, and one
// more for all records. Chunks start from them, not from the end of the chunk before:
// rounding errors do not grow with the number of events, and chunks can be walked in
// any order, with the same bits as a result.
type sums struct {
	bins    int
	totals  []float64 // of weights
	squares []float64 // of the squares of the steps that events make; nil: not wanted
	memory  *sumMemory
}

// newSums returns sums of so many rows, all 0, which lie in this memory.
func newSums(rows, bins int, memory *sumMemory, arena *par.Arena) *sums {
	memory.totals = par.Grown(memory.totals, rows*bins)
	clear(memory.totals)
	return par.New(arena, sums{bins: bins, totals: memory.totals, memory: memory})
}

// row returns the sums of weights before chunk k.
func (su *sums) row(k int) []float64 { return su.totals[k*su.bins : (k+1)*su.bins] }

// all returns the sums of weights over all records.
func (su *sums) all() []float64 { return su.totals[len(su.totals)-su.bins:] }

// runningSums turns rows of nb numbers, the first of them 0, into the sums of all rows
// up to each.
func runningSums(rows []float64, nb int) {
	for k := nb; k < len(rows); k++ {
		rows[k] += rows[k-nb]
	}
}

// addSquares sums the squares of the steps that events make, where one of weight 1
// makes the step unit[b], and returns the sums of their third powers over each bin.
func addSquares[T Float](su *sums, rs *records[T], unit []float64, sc *scratch) []float64 {
	chunks, nb := len(rs.chunks)-1, su.bins
	memory := su.memory
	memory.squares = par.Grown(memory.squares, (chunks+1)*nb)
	clear(memory.squares)
	memory.thirds = par.Grown(memory.thirds, (chunks+1)*nb)
	clear(memory.thirds)
	sc.team.Run(chunks, func(k int) {
		row := (k + 1) * nb
		squares, thirds := memory.squares[row:row+nb], memory.thirds[row:row+nb]
		lo := rs.chunks[k]
		for i, r := range rs.words[lo:rs.chunks[k+1]] {
			b := rs.Bin(r)
			e := rs.weights[lo+i] * unit[b]
			squares[b] += e * e
			thirds[b] += e * e * e
		}
	})
	runningSums(memory.squares, nb)
	runningSums(memory.thirds, nb)
	su.squares = memory.squares
	return memory.thirds[chunks*nb:]
}
