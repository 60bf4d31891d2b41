package sorted

import (
	"sort"

	"github.com/libmode/libmode/core/internal/par"
)

// chunkSize returns the usual number of records of a chunk: so many that the fixed cost of a chunk does not matter, and so
// few that the rounding errors of its running sums do not matter either.
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

// Powers returns the sums of the squares of the steps of the events, in rows like Sums, and those of their third powers over each bin. An
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
