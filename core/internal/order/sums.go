package order

import "github.com/libmode/libmode/core/internal/par"

// Sums are sums over the records before each chunk, by bin: a row a chunk, and one
// more for all records. Chunks start from them, not from the end of the chunk before:
// rounding errors do not grow with the number of events, and chunks can be walked in
// any order, with the same bits as a result.
type Sums struct {
	bins    int
	Totals  []float64 // of weights
	Squares []float64 // of the squares of the steps that events make; nil: not wanted
}

// newSums returns sums of so many rows, all 0, which lie in memory of the call.
func newSums(rows, bins int, sc *par.Scratch) *Sums {
	memory := par.Kept[sumMemory](sc)
	memory.totals = par.Grown(memory.totals, rows*bins)
	clear(memory.totals)
	return par.New(&sc.Arena, Sums{bins: bins, Totals: memory.totals})
}

// Row returns the sums of weights before chunk k.
func (su *Sums) Row(k int) []float64 { return su.Totals[k*su.bins : (k+1)*su.bins] }

// All returns the sums of weights over all records.
func (su *Sums) All() []float64 { return su.Totals[len(su.Totals)-su.bins:] }

// addRows turns rows of nb numbers, the first of them 0, into the sums of all rows
// up to each.
func addRows(rows []float64, nb int) {
	for k := nb; k < len(rows); k++ {
		rows[k] += rows[k-nb]
	}
}

// AddSquares sums the squares of the steps that events make, where one of weight 1
// makes the step unit[b], and returns the sums of their third powers over each bin.
func AddSquares(su *Sums, rs *Records, unit []float64, sc *par.Scratch) []float64 {
	chunks, nb := len(rs.Chunks)-1, su.bins
	memory := par.Kept[sumMemory](sc)
	memory.squares = par.Grown(memory.squares, (chunks+1)*nb)
	clear(memory.squares)
	memory.thirds = par.Grown(memory.thirds, (chunks+1)*nb)
	clear(memory.thirds)
	sc.Team.Run(chunks, func(k int) {
		row := (k + 1) * nb
		squares, thirds := memory.squares[row:row+nb], memory.thirds[row:row+nb]
		lo := rs.Chunks[k]
		for i, r := range rs.Words[lo:rs.Chunks[k+1]] {
			b := rs.Bin(r)
			e := rs.Weights[lo+i] * unit[b]
			squares[b] += e * e
			thirds[b] += e * e * e
		}
	})
	addRows(memory.squares, nb)
	addRows(memory.thirds, nb)
	su.Squares = memory.squares
	return memory.thirds[chunks*nb:]
}

// sumMemory is that of the sums over the records before each chunk.
type sumMemory struct {
	totals  []float64 // sums of weights per chunk and bin
	squares []float64 // sums of squared steps per chunk and bin
	thirds  []float64 // sums of their third powers
}
