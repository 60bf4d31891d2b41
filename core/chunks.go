package core

// chunkSize is how many records a chunk holds about: so many that what a chunk
// costs whatever its size does not matter, and so few that the rounding errors of
// its running sums do not either.
func (sw *sweep[T]) chunkSize() int { return max(1<<11, 64*sw.nb) }

// group is cells that are sorted together, by one goroutine.
type group struct {
	cells [2]int // cells cells[0] .. cells[1]-1
	first int    // the first of its chunks; its last is before that of the next group
}

// divide makes groups of whole cells, most of the size of a chunk. A cell of many
// records is a group of many chunks: where they begin is known once it is sorted,
// since a chunk has all or none of the events of one score.
func (sw *sweep[T]) divide(cells []uint32) {
	size := sw.chunkSize()
	from := 0
	for c, end := range cells[1:] {
		lo, hi := int(cells[from]), int(end)
		if hi-lo >= size || c == len(cells)-2 {
			sw.groups = append(sw.groups, group{[2]int{from, c + 1}, len(sw.chunks)})
			sw.chunks = append(sw.chunks, lo)
			if hi-lo > 2*size {
				for range 2 * ((hi - lo) / size) {
					sw.chunks = append(sw.chunks, hi) // empty, see cut
				}
			}
			from = c + 1
		}
	}
	sw.chunks = append(sw.chunks, len(sw.records))
}

// cut sets where the chunks of a group, now sorted, begin. Each holds as many
// records as chunkSize says, or fewer up to a tie, or one tie of more than that; some
// at the end of the group may be empty.
func (sw *sweep[T]) cut(first, hi int) {
	size := sw.chunkSize()
	for k := first; hi-sw.chunks[k] > size && sw.chunks[k+1] == hi; k++ {
		lo := sw.chunks[k]
		at := lo + size // becomes the start of the tie that it is in, or the end
		for at > lo && sw.tied(at-1, at) {
			at--
		}
		if at == lo {
			at = sw.endOfTie(lo, hi)
		}
		sw.chunks[k+1] = at
	}
}

// sortGroups sorts the records of each group by score, brings weights into the same
// order, and sums the weights by chunk and bin.
func (sw *sweep[T]) sortGroups(cells []uint32, sc *scratch) {
	sc.totals = grown(sc.totals, len(sw.chunks)*sw.nb)
	clear(sc.totals)
	if sw.input.Weight != nil {
		sc.weights = grown(sc.weights, len(sw.records))
		sw.weights = sc.weights
	}
	sc.team.parallel(len(sw.groups), func(g int) {
		of := sw.groups[g]
		so := sorters.Get().(*sorter)
		sortCells(so, sw.records, cells[of.cells[0]:of.cells[1]+1], &sw.layout, sw.input.Score)
		sorters.Put(so)
		end := len(sw.chunks) - 1
		if g+1 < len(sw.groups) {
			end = sw.groups[g+1].first
		}
		if end > of.first+1 {
			sw.cut(of.first, int(cells[of.cells[1]]))
		}
		for k := of.first; k < end; k++ {
			sw.sumChunk(k, sc.totals[(k+1)*sw.nb:(k+2)*sw.nb])
		}
	})
}

// sumChunk adds the weights of chunk k to totals, by bin.
func (sw *sweep[T]) sumChunk(k int, totals []float64) {
	lo, hi := sw.chunks[k], sw.chunks[k+1]
	if sw.weights == nil {
		for _, r := range sw.records[lo:hi] {
			totals[sw.bin(r)]++
		}
		return
	}
	for i, r := range sw.records[lo:hi] {
		w := float64(sw.input.Weight[sw.index(r)]) * sw.unit
		sw.weights[lo+i] = w
		totals[sw.bin(r)] += w
	}
}

// setSums turns sums of chunks into sums over all that comes before a chunk,
// and sets what follows from the sums over everything.
func (sw *sweep[T]) setSums(edges []float64, sc *scratch) error {
	runningSums(sc.totals, sw.nb)
	all := (len(sw.chunks) - 1) * sw.nb
	var err error
	if sw.inverse, err = inverseSums(edges, sc.totals[all:], sw.unit); err != nil {
		return err
	}
	if sw.flat {
		sw.setFlat(sc.totals[all:])
	}
	if !sw.config.Unbiased {
		return nil
	}
	sw.spread = newSpread(edges)
	if sw.weights == nil {
		return sw.spread.setEqual(sw.inverse)
	}
	sw.sumPowers(sc)
	if err := sw.spread.setTotals(sc.squares[all:], sc.powers[:sw.nb]); err != nil {
		return err
	}
	sw.findDominated()
	return nil
}

// sumPowers sums by chunk and bin the squares of the steps that events make, and
// over each bin what the factor of the variance is made of.
func (sw *sweep[T]) sumPowers(sc *scratch) {
	chunks := len(sw.chunks) - 1
	sc.squares = grown(sc.squares, (chunks+1)*sw.nb)
	clear(sc.squares)
	sc.powers = grown(sc.powers, (chunks+1)*sw.nb)
	clear(sc.powers)
	total, partial := sc.powers[:sw.nb], sc.powers[sw.nb:]
	sc.team.parallel(chunks, func(k int) {
		squares, of := sc.squares[(k+1)*sw.nb:(k+2)*sw.nb], partial[k*sw.nb:(k+1)*sw.nb]
		lo := sw.chunks[k]
		for i, r := range sw.records[lo:sw.chunks[k+1]] {
			b := sw.bin(r)
			e := sw.weights[lo+i] * sw.inverse[b]
			squares[b] += e * e
			of[b].add(e)
		}
	})
	runningSums(sc.squares, sw.nb)
	for i := range partial {
		total[i%sw.nb].merge(&partial[i])
	}
}

// runningSums turns rows of nb numbers, the first of them 0, into the sums of all rows
// up to each.
func runningSums(rows []float64, nb int) {
	for k := nb; k < len(rows); k++ {
		rows[k] += rows[k-nb]
	}
}
