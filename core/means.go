package core

import (
	"sync"

	"github.com/libmode/libmode/core/internal/par"
)

// binSums are sums over the events of each bin: what the mean functions of
// projection moments are made of, and what says whether a bin has enough events.
// A row is a bin's: W, the sum of weights, T, that of their squares, and the sums of
// the weights times each of some functions, see columns. Weights are in a common unit.
type binSums struct {
	count int  // of functions
	one   bool // the function 1 comes before them, whose mean is 1
	rows  []float64
}

func (bs *binSums) width() int            { return 2 + bs.count }
func (bs *binSums) row(b int) []float64   { return bs.rows[b*bs.width() : (b+1)*bs.width()] }
func (bs *binSums) weight(b int) float64  { return bs.row(b)[0] }
func (bs *binSums) squares(b int) float64 { return bs.row(b)[1] }

// binsOf sets dst to the bins of the events from lo on; noBin for those that take no part.
type binsOf func(dst []uint32, lo int)

const noBin = noPair

// sumRoom has the bins of a block of events, and sums over larger ones.
type sumRoom struct {
	bins   [checkBlock]uint32
	low    []lowSums
	values [][]float64 // of the functions, see columns.fill
	all    []float64   // memory of these
	sums   []float64   // over a larger block, a row a bin as in binSums, and one for events that take no part
}

// setRoom makes room for so many functions of n events.
func (room *sumRoom) setRoom(count, n int) {
	room.values, room.all = par.Grown(room.values, count), par.Grown(room.all, count*n)
	for l := range room.values {
		room.values[l] = room.all[l*n : (l+1)*n]
	}
}

var sumRooms = sync.Pool{New: func() any { return new(sumRoom) }}

// sumBins returns the sums of the events over so many bins. Events are added up in blocks
// of a size that does not depend on the number of threads, and blocks in their order.
func sumBins[T Float](sel *selection[T], bins int, co *columns, unit float64, of binsOf, sc *scratch) *binSums {
	total := par.New(&sc.arena, binSums{count: co.count, one: co.one})
	per := bins * total.width()
	n, size := len(sel.Mass), max(1<<14, 64*bins)
	blocks := max(1, (n+size-1)/size)
	rows := par.Make[float64](&sc.arena, blocks*per)
	sc.team.Run(blocks, func(k int) {
		block := binSums{co.count, co.one, rows[k*per : (k+1)*per]}
		room := sumRooms.Get().(*sumRoom)
		defer sumRooms.Put(room)
		var low []lowSums
		if co.low != nil {
			room.low = par.Grown(room.low, bins)
			low = room.low
			clear(low)
		} else {
			room.sums = par.Grown(room.sums, (bins+1)*total.width())
			clear(room.sums)
		}
		for lo, end := size*k, min(n, size*(k+1)); lo < end; lo += checkBlock {
			numbers := room.bins[:min(checkBlock, end-lo)]
			of(numbers, lo)
			if low != nil {
				addLow(low, sel, lo, numbers, co.low, unit)
				continue
			}
			room.setRoom(co.count, len(numbers))
			co.fill(room.values, lo)
			addValues(room.sums, total.width(), sel, room.values, lo, numbers, unit)
		}
		for b, sums := range low {
			sums.set(block.row(b), sel.Weight == nil)
		}
		if low == nil {
			copy(block.rows, room.sums)
		}
	})
	total.rows = rows[:per]
	for k := 1; k < blocks; k++ {
		for i, more := range rows[k*per : (k+1)*per] {
			total.rows[i] += more
		}
	}
	return total
}

// lowSums are the sums of w, w^2, w omega_1 and w omega_2: all that orders up to 2 need.
type lowSums [4]float64

// set makes a row of binSums of them. Without weights the sum of their squares is left out.
func (sums *lowSums) set(row []float64, ones bool) {
	copy(row, sums[:])
	if ones {
		row[1] = sums[0]
	}
}

// addLow adds the events from lo on, with the polynomials of two nodes. Those of one that is not there are not looked at.
func addLow[T Float](sums []lowSums, sel *selection[T], lo int, bins []uint32, of *newton, unit float64) {
	var nodes [2]float64
	copy(nodes[:], of.nodes)
	first, second, factor := nodes[0], nodes[1], of.factor
	masses := sel.Mass[lo:][:len(bins)]
	if sel.Weight == nil {
		for i, b := range bins {
			if b != noBin {
				m, s := float64(masses[i]), &sums[b]
				x := (m - first) * factor
				s[0]++
				s[2] += x
				s[3] += x * ((m - second) * factor)
			}
		}
		return
	}
	weights := sel.Weight[lo:][:len(bins)]
	for i, b := range bins {
		if b != noBin {
			m, w, s := float64(masses[i]), float64(weights[i])*unit, &sums[b]
			x := (m - first) * factor
			s[0] += w
			s[1] += w * w
			s[2] += w * x
			s[3] += w * x * ((m - second) * factor)
		}
	}
}

// addValues is addLow for any functions, of which these are the values. It overwrites them, and the bins.
func addValues[T Float](sums []float64, width int, sel *selection[T], values [][]float64, lo int, bins []uint32, unit float64) {
	nowhere := uint32(len(sums)/width - 1)
	for i, b := range bins {
		bins[i] = min(b, nowhere) * uint32(width)
	}
	if sel.Weight == nil {
		for _, row := range bins {
			sums[row]++
			sums[row+1]++
		}
	} else {
		for i, row := range bins {
			w := float64(sel.Weight[lo+i]) * unit
			sums[row] += w
			sums[row+1] += w * w
		}
		weigh(values, sel.Weight[lo:], unit)
	}
	for l, column := range values {
		of := sums[2+l:]
		column = column[:len(bins)]
		for i, row := range bins {
			of[row] += column[i]
		}
	}
}

// weigh multiplies the values with the weights.
func weigh[T Float](values [][]float64, weights []T, unit float64) {
	for _, column := range values {
		for i := range column {
			column[i] *= float64(weights[i]) * unit
		}
	}
}

// merging returns, for each bin, the number of the bin that it becomes a part of
// where neighbours are merged, from the lowest mass on, until each has a positive
// sum of weights and enough effective events, W^2/T. What is left at the end joins the
// last of these bins, and that the one before it, until they have enough.
func (bs *binSums) merging(enough float64) []int {
	type stretch struct {
		first int
		w, t  float64
	}
	sufficient := func(g stretch) bool { return g.w > 0 && g.w*g.w >= enough*g.t }
	nb := len(bs.rows) / bs.width()
	groups := make([]stretch, 0, nb)
	now := stretch{}
	for b := range nb {
		now.w += bs.weight(b)
		now.t += bs.squares(b)
		if sufficient(now) {
			groups = append(groups, now)
			now = stretch{first: b + 1}
		}
	}
	for now.first < nb && len(groups) > 0 && !sufficient(now) {
		last := groups[len(groups)-1]
		groups = groups[:len(groups)-1]
		now = stretch{last.first, last.w + now.w, last.t + now.t}
	}
	if now.first < nb {
		groups = append(groups, now)
	}
	to := make([]int, nb)
	for k, g := range groups {
		for b := g.first; b < nb; b++ {
			to[b] = k
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
				row[i] += more
			}
		} else {
			copy(row, bs.row(b))
		}
	}
	bs.rows = bs.rows[:(to[len(to)-1]+1)*bs.width()]
}

// check returns an error for the first bin whose sum of weights is not positive.
func (sums *binSums) check(bs *bins, unit float64) error {
	for b := range bs.count() {
		if err := checkSum(bs, b, sums.weight(b), unit); err != nil {
			return err
		}
	}
	return nil
}

// means returns the bins' mean functions, (1/W_b) sum w f(x), a row a bin.
func (bs *binSums) means(sc *scratch) []float64 {
	first := 0
	if bs.one {
		first = 1
	}
	size := bs.count + first
	nb := len(bs.rows) / bs.width()
	means := par.Make[float64](&sc.arena, nb*size)
	for b := range nb {
		row, to := bs.row(b), means[b*size:(b+1)*size]
		if bs.one {
			to[0] = 1
		}
		for l := range bs.count {
			to[first+l] = row[2+l] / row[0]
		}
	}
	return means
}
