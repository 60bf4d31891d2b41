package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
	"gonum.org/v1/gonum/floats"
)

// ranked has weighed events with the ranks of their scores and the cells of their masses.
type ranked[T events.Float] struct {
	weighed[T]
	rank []float64
	cell []uint8
}

// lowestRank is also the distance of the highest rank from 1. A weight below it, of all weights, would give a rank of 0 or 1.
const lowestRank = 1. / (1 << 53)

// nearBorder is how far below a border of cells a rank may lie, in cells, and still count as above it. In bins of equal sums the middle
// event of a bin has its rank on a border, and rounding must not decide.
const nearBorder = 1e-9

// cellOf returns in which of so many cells of equal size a rank lies.
func cellOf(rank float64, cells int) int { return min(int(rank*float64(cells)+nearBorder), cells-1) }

// ranks returns the events with their ranks. A rank is the fraction of the sum of sizes |weight| that lies below a value, plus half of
// the fraction of equal values.
func (w weighed[T]) ranks(limits [][2]float64) ranked[T] {
	n, order := len(w.raw), w.views[0].Order()
	r := ranked[T]{w, par.Unset[float64](&w.sc.Arena, n), par.Make[uint8](&w.sc.Arena, n)}
	words, layout, single := order.Words, order.Layout, len(w.views) == 1
	if !single { // no view has the order of all events
		sorted := radix.SortValues(w.events.Score, w.sc)
		words, layout = sorted.Words, sorted.Layout
	}
	sizes := par.Unset[float64](&w.sc.Arena, len(words))
	for k, word := range words {
		if single { // nearer in memory
			sizes[k] = math.Abs(order.Weight(k) * w.views[0].each[layout.Bin(word)])
		} else {
			sizes[k] = math.Abs(w.weight[layout.Index(word)])
		}
	}
	rank(r.rank, w.events.Score, words, layout, sizes)
	for v, mass := range w.events.Variables() {
		r.addCells(mass, limits[v], massCells[len(limits)])
	}
	return r
}

// rank sets dst to the ranks of the values whose sorted records are the words, each with the size of its weight.
func rank[T events.Float](dst []float64, values []T, words []uint64, layout radix.Layout, sizes []float64) {
	total, below := floats.Sum(sizes), 0.0
	for k := 0; k < len(words); {
		first, tied := k, sizes[k]
		for k++; k < len(words) && layout.Key(words[k]) == layout.Key(words[first]); k++ {
			if !layout.Half && values[layout.Index(words[k])] != values[layout.Index(words[first])] {
				break // the keys have no room for all bits
			}
			tied += sizes[k]
		}
		q := min(max((below+tied/2)/total, lowestRank), 1-lowestRank)
		for _, word := range words[first:k] {
			dst[layout.Index(word)] = q
		}
		below += tied
	}
}

// apart is the mark of a strip of masses in which more than one cell has masses.
const apart = math.MaxUint8

// addCells adds the cells of one more variable of mass to the cells of the events. A variable has so many cells, and one more for events
// without a value.
//
// Strips of equal width add up the weights. Most lie in one cell: masses are sorted only in strips that are apart.
func (r *ranked[T]) addCells(mass []T, limits [2]float64, cells int) {
	n, sc, weight := len(mass), r.sc, r.weight
	strips := events.NewCells(mass, limits[0], limits[1], min(max(64, 2*n), 1<<12), 0.5)
	last := strips.Count()
	strip := func(i int) int { // of an event without weight or value: the last
		if m := float64(mass[i]); weight[i] != 0 && m >= limits[0] && m <= limits[1] {
			return int(strips.Of(mass[i]))
		}
		return last
	}
	sums := addUp(n, last+1, sc, func(lo, hi int, sums []float64) {
		for i := lo; i < hi; i++ {
			sums[strip(i)] += math.Abs(weight[i])
		}
	})
	below, cellOfStrip := par.Unset[float64](&sc.Arena, last), par.Unset[uint8](&sc.Arena, last+1)
	total, sum, lower := floats.Sum(sums[:last]), 0.0, 0
	for s, size := range sums[:last] {
		below[s], cellOfStrip[s] = sum, uint8(lower)
		if size > 0 {
			sum += size
			if upper := cellOf(sum/total, cells); upper != lower {
				lower, cellOfStrip[s] = upper, apart
			}
		}
	}
	cellOfStrip[last] = uint8(cells)
	all := par.Unset[uint32](&sc.Arena, n)[:0] // the events in strips that are apart
	for i := range n {
		cell := cellOfStrip[strip(i)]
		if cell == apart {
			all, cell = append(all, uint32(i)), 0
		}
		r.cell[i] = r.cell[i]*uint8(cells+1) + cell
	}
	masses := par.Unset[T](&sc.Arena, len(all))
	for k, i := range all {
		masses[k] = mass[i]
	}
	sorted := radix.SortValues(masses, sc)
	words := sorted.Words
	for k := 0; k < len(words); {
		first, tied := k, 0.0
		for ; k < len(words) && masses[sorted.Index(words[k])] == masses[sorted.Index(words[first])]; k++ {
			tied += math.Abs(weight[all[sorted.Index(words[k])]])
		}
		s := strip(int(all[sorted.Index(words[first])]))
		cell := uint8(cellOf((below[s]+tied/2)/total, cells))
		below[s] += tied
		for _, word := range words[first:k] {
			r.cell[all[sorted.Index(word)]] += cell
		}
	}
}
