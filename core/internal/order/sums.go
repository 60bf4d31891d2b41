package order

import "github.com/libmode/libmode/core/internal/par"

// Row returns the sums of weights over the records before chunk k, by bin. The last row is for all records. A chunk starts from
// its row, and not from the end of the chunk before it, so that rounding errors do not grow with the number of events, and the
// order in which chunks are walked does not change a bit.
func (rs *Records) Row(k int) []float64 { return rs.Sums[k*rs.bins : (k+1)*rs.bins] }

// Totals returns the sums of weights over all records.
func (rs *Records) Totals() []float64 { return rs.Row(len(rs.Chunks) - 1) }

// addRows adds to each row of nb numbers the row before it.
func addRows(rows []float64, nb int) {
	for k := nb; k < len(rows); k++ {
		rows[k] += rows[k-nb]
	}
}

// addChunk adds the weights of chunk k to totals, by bin.
func (rs *Records) addChunk(totals []float64, k int) {
	lo, layout := rs.Chunks[k], rs.Layout
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
}

// Powers returns the sums of the squares of the steps of the events, in rows like Sums, and those of their third powers over each bin. An
// event of weight 1 in bin b has the step step[b].
func (rs *Records) Powers(step []float64, sc *par.Scratch) (squares, thirds []float64) {
	chunks, nb := len(rs.Chunks)-1, rs.bins
	squares, thirds = par.Make[float64](&sc.Arena, (chunks+1)*nb), par.Make[float64](&sc.Arena, (chunks+1)*nb)
	sc.Team.Run(chunks, func(k int) {
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
