package core

// binSums are sums over the events of each bin: what the mean polynomials of
// projection moments are made of, and what says whether a bin has enough events.
// A row is a bin's: W, the sum of weights, T, that of their squares, and the sums of
// w P_l(x), l = 1..order. Weights are in a common unit.
type binSums struct {
	order int
	rows  []twofold
}

func (bs *binSums) width() int            { return 2 + bs.order }
func (bs *binSums) row(b int) []twofold   { return bs.rows[b*bs.width() : (b+1)*bs.width()] }
func (bs *binSums) weight(b int) float64  { return bs.row(b)[0].hi }
func (bs *binSums) squares(b int) float64 { return bs.row(b)[1].hi }

// sumBins returns the sums of the events that take part over nb bins; bin tells an
// event's. Events are added up in blocks of a size that does not depend on the
// number of threads, and blocks in their order.
func sumBins[T Float](sel *selection[T], nb, order int, unit float64, bin func(i int) int, tm *team) *binSums {
	total := &binSums{order: order}
	per := nb * total.width()
	n, size := len(sel.Mass), max(1<<14, 64*nb)
	blocks := max(1, (n+size-1)/size)
	rows := make([]twofold, blocks*per)
	tm.parallel(blocks, func(k int) {
		block := binSums{order, rows[k*per : (k+1)*per]}
		addBlock(&block, sel, size*k, min(n, size*(k+1)), unit, bin)
	})
	total.rows = rows[:per]
	for k := 1; k < blocks; k++ {
		for i, more := range rows[k*per : (k+1)*per] {
			total.rows[i] = total.rows[i].add(more)
		}
	}
	return total
}

// addBlock adds the events lo..hi-1.
func addBlock[T Float](bs *binSums, sel *selection[T], lo, hi int, unit float64, bin func(i int) int) {
	from, to := sel.massLo, sel.massHi
	span := to - from
	var p [MaxOrder + 1]float64
	for i := lo; i < hi; i++ {
		m := float64(sel.Mass[i])
		if !(m >= from && m <= to) {
			continue
		}
		w := 1.0
		if sel.Weight != nil {
			w = float64(sel.Weight[i]) * unit
		}
		row := bs.row(bin(i))
		row[0].hi += w
		row[1].hi += w * w
		if bs.order == 0 {
			continue
		}
		x := ((m - from) - (to - m)) / span
		if bs.order <= fastOrder {
			row[2].hi += w * x
			if bs.order == 2 {
				row[3].hi += w * (1.5*x*x - 0.5)
			}
			continue
		}
		legendre(p[:bs.order+1], x)
		for l := 1; l <= bs.order; l++ {
			row[1+l] = row[1+l].plus(w * p[l])
		}
	}
}

// merging returns, for each bin, the number of the bin that it becomes a part of
// where neighbours are merged, from the lowest mass on, until each has a positive
// sum of weights and enough effective events, W^2/T. What is left at the end joins
// the last bin.
func (bs *binSums) merging(enough float64) []int {
	nb := len(bs.rows) / bs.width()
	to := make([]int, nb)
	next, start := 0, 0
	var w, t float64
	for b := range nb {
		w += bs.weight(b)
		t += bs.squares(b)
		to[b] = next
		if w > 0 && w*w >= enough*t {
			next, start, w, t = next+1, b+1, 0, 0
		}
	}
	if start < nb && next > 0 {
		for b := start; b < nb; b++ {
			to[b] = next - 1
		}
	}
	return to
}

// merge makes one bin of each run of bins that to maps to the same number, which do
// not decrease.
func (bs *binSums) merge(to []int) {
	for b, target := range to {
		if target == b {
			continue
		}
		row := bs.row(target)
		if b > 0 && to[b-1] == target {
			for i, more := range bs.row(b) {
				row[i] = row[i].add(more)
			}
		} else {
			copy(row, bs.row(b))
		}
	}
	bs.rows = bs.rows[:(to[len(to)-1]+1)*bs.width()]
}

// check returns an error for the first bin whose sum of weights is not positive.
func (bs *binSums) check(edges []float64, unit float64) error {
	for b := range len(edges) - 1 {
		if err := checkSum(edges, b, bs.weight(b), unit); err != nil {
			return err
		}
	}
	return nil
}

// means returns the bins' mean polynomials, (1/W_b) sum w P_l(x), a row a bin.
func (bs *binSums) means() []twofold {
	size := bs.order + 1
	nb := len(bs.rows) / bs.width()
	means := make([]twofold, nb*size)
	for b := range nb {
		row := bs.row(b)
		means[b*size].hi = 1
		for l := 1; l < size; l++ {
			means[b*size+l] = row[1+l].over(row[0])
		}
	}
	return means
}
