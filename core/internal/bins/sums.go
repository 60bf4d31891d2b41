package bins

import (
	"sync"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
)

// Columns are functions of an event whose means over the bins are wanted.
type Columns struct {
	Count int  // of the functions
	One   bool // the function 1 comes before them
	Low   *Low // what they are, where they are few; nil: others
	// Fill sets each function's values, a slice each, for the events from lo on.
	Fill func(values [][]float64, lo int)
}

// Low is the functions x_1 and x_1 x_2 of a mass m, or the first of them, with x_k = (m - Nodes[k-1]) Factor.
type Low struct {
	Nodes  [2]float64
	Factor float64
}

// Finder sets dst to the bins of the events from lo on; NoBin for those that take no part.
type Finder func(dst []uint32, lo int)

// Sums are sums over the events of each bin: a row is W, the sum of weights, T, that of their squares, and the sums of
// the weights times each of some functions. Weights are in a common unit.
type Sums struct {
	count int  // of functions
	one   bool // the function 1 comes before them, whose mean is 1
	rows  []float64
}

func (su *Sums) width() int            { return 2 + su.count }
func (su *Sums) row(b int) []float64   { return su.rows[b*su.width() : (b+1)*su.width()] }
func (su *Sums) weight(b int) float64  { return su.row(b)[0] }
func (su *Sums) squares(b int) float64 { return su.row(b)[1] }

// Settle merges bins that have too few events, where their number was not asked for, and returns the means of the
// columns over the bins, a row a bin.
func Settle[T events.Float](bs *Bins, sel *events.Selection[T], o *Options, co *Columns, unit float64, sc *par.Scratch) ([]float64, error) {
	merging := o.merges() && (sel.Weight != nil || o.Kind == Uniform) // others have enough already
	var means []float64
	if merging || co.Count > 0 {
		su := SumBins(sel, bs.Count(), co, unit, func(dst []uint32, lo int) { Find(dst, bs, sel, lo) }, sc)
		if merging {
			if to := su.merging(enough); to[len(to)-1] < len(to)-1 {
				su.merge(to)
				merge(bs, sel, to)
			}
		}
		if err := su.Check(bs, unit); err != nil {
			return nil, err
		}
		means = su.Means(sc)
	} else if co.One {
		means = par.Make[float64](&sc.Arena, bs.Count())
		for b := range means {
			means[b] = 1
		}
	}
	return means, checkSettled(bs, sel, o)
}

// sumRoom has the bins of a block of events, and sums over larger ones.
type sumRoom struct {
	bins   [events.Block]uint32
	low    []lowSums
	values [][]float64 // of the functions, see Columns.Fill
	all    []float64   // memory of these
	sums   []float64   // over a larger block, a row a bin as in Sums, and one for events that take no part
}

// setRoom makes room for so many functions of n events.
func (room *sumRoom) setRoom(count, n int) {
	room.values, room.all = par.Grown(room.values, count), par.Grown(room.all, count*n)
	for l := range room.values {
		room.values[l] = room.all[l*n : (l+1)*n]
	}
}

var sumRooms = sync.Pool{New: func() any { return new(sumRoom) }}

// SumBins returns the sums of the events over the bins. Events are added up in blocks
// of a size that does not depend on the number of threads, and blocks in their order.
func SumBins[T events.Float](sel *events.Selection[T], bins int, co *Columns, unit float64, of Finder, sc *par.Scratch) *Sums {
	total := par.New(&sc.Arena, Sums{count: co.Count, one: co.One})
	per := bins * total.width()
	n, size := len(sel.Mass), max(1<<14, 64*bins)
	blocks := max(1, (n+size-1)/size)
	rows := par.Make[float64](&sc.Arena, blocks*per)
	sc.Team.Run(blocks, func(k int) {
		block := Sums{co.Count, co.One, rows[k*per : (k+1)*per]}
		room := sumRooms.Get().(*sumRoom)
		defer sumRooms.Put(room)
		var low []lowSums
		if co.Low != nil {
			room.low = par.Grown(room.low, bins)
			low = room.low
			clear(low)
		} else {
			room.sums = par.Grown(room.sums, (bins+1)*total.width())
			clear(room.sums)
		}
		for lo, end := size*k, min(n, size*(k+1)); lo < end; lo += events.Block {
			numbers := room.bins[:min(events.Block, end-lo)]
			of(numbers, lo)
			if low != nil {
				addLow(low, sel, lo, numbers, co.Low, unit)
				continue
			}
			room.setRoom(co.Count, len(numbers))
			co.Fill(room.values, lo)
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
