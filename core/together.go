package core

import (
	"errors"
	"math"

	"github.com/libmode/libmode/core/internal/par"
)

// Several variables one by one are walked along scores that are sorted once. A record has, in place of a bin, a
// cell: a number that says in which bin of each variable the event is. For each variable a table says which bin
// a cell stands for. An event that has no value of a variable is there one of weight 0.

// errNotTogether says that variables cannot share records.
var errNotTogether = errors.New("variables cannot share records")

// mostCells is how many cells there can be: their numbers have the place of those of the cells of mass.
const mostCells = 1 << massCellBits

// together is the mean of the losses of variables, from one sort.
func together[T Float](out derivatives[T], ev Events[T], index []uint32, of []variable[T], cfg *Config, sc *scratch) (Result, error) {
	gr := newGrid(len(ev.Score), sc)
	for k := range of {
		bs, sel, err := of[k].bins(ev, index, sc)
		if err != nil {
			return Result{}, of[k].named(err)
		}
		absent := sel.n < len(sel.Mass)
		if absent && math.IsInf(cfg.ScoreRange[0], -1) {
			return Result{}, errNotTogether // each variable has its own ends of the integral
		}
		if !divideGrid(gr, bs, sel, absent) {
			return Result{}, errNotTogether
		}
	}
	sel, err := selectScores(ev, index, gr.cellOf, cfg, sc)
	if err != nil {
		return Result{}, err
	}
	rs := sortTogether(gr, sel, sc)
	var totals [len(out)][]float64
	for d, of := range out {
		if of != nil {
			sc.totals[d] = par.Grown(sc.totals[d], len(rs.words))
			totals[d] = sc.totals[d]
		}
	}
	walks := make([]*walk[T], len(of))
	for k := range of {
		ax := &gr.axes[k]
		view := along(rs, ax, gr.cells, &sc.present[k], sc)
		wa, err := walkOf(out, sel, ax.bins, view, view.sum(ax.bins.count(), &sc.sums[k], sc), &of[k].cfg, sc)
		if err != nil {
			return Result{}, of[k].named(err)
		}
		wa.in.scale /= float64(len(of))
		wa.total, wa.first, wa.more = totals[0], k == 0, k+1 < len(of)
		if wa.curved != nil {
			wa.curved.total, wa.curved.first, wa.curved.more = totals[1], wa.first, wa.more
		}
		walks[k] = wa
	}
	return integrate(sc, walks...)
}

// bins returns the bins of a variable, and the selection that has in it which events are where.
func (v *variable[T]) bins(ev Events[T], index []uint32, sc *scratch) (*bins, *selection[T], error) {
	sel, err := selectMasses(Events[T]{Score: ev.Score, Mass: v.mass, Weight: ev.Weight}, index, &v.cfg, sc)
	if err != nil {
		return nil, nil, err
	}
	bs, err := newBins(sel, &v.cfg, sel.unit(), sc)
	return bs, sel, err
}

// grid is the cells that the bins of several variables make.
type grid struct {
	cells  int
	cellOf []uint32 // of each event
	axes   []axisOfGrid
}

// axisOfGrid is the bins of one variable.
type axisOfGrid struct {
	bins   *bins
	count  int  // of bins, and one more where some events have no value
	stride int  // the cells of neighbouring bins are so far apart
	absent bool // some events have no value: they are in the last bin
}

func newGrid(n int, sc *scratch) *grid {
	sc.cellOf = par.Grown(sc.cellOf, n)
	clear(sc.cellOf)
	return &grid{cells: 1, cellOf: sc.cellOf}
}

// divideGrid divides all cells by the bins of one more variable, and reports whether there is room.
func divideGrid[T Float](gr *grid, bs *bins, sel *selection[T], absent bool) bool {
	ax := axisOfGrid{bs, bs.count(), gr.cells, absent}
	if absent {
		ax.count++
	}
	if gr.cells *= ax.count; gr.cells > mostCells {
		return false
	}
	gr.axes = append(gr.axes, ax)
	stride, last := uint32(ax.stride), uint32(ax.count-1)
	if bs.assigned && !absent {
		for i, pair := range sel.cellsOf[:len(gr.cellOf)] {
			gr.cellOf[i] += stride * (pair & massCellMask)
		}
		return true
	}
	var numbers [checkBlock]uint32
	for lo := 0; lo < len(gr.cellOf); lo += checkBlock {
		cells := gr.cellOf[lo:min(lo+checkBlock, len(gr.cellOf))]
		binsOfEvents(numbers[:len(cells)], bs, sel, lo)
		for i, b := range numbers[:len(cells)] {
			cells[i] += stride * min(b, last) // noBin becomes the last
		}
	}
	return true
}

// binOf returns by cell the bin of an axis; events without a value are put into the first.
func (ax *axisOfGrid) binOf(cells int, arena *par.Arena) (binOf []uint32, present []bool) {
	binOf, present = par.Make[uint32](arena, cells), par.Make[bool](arena, cells)
	for c := range binOf {
		b := c / ax.stride % ax.count
		if present[c] = b < ax.bins.count(); present[c] {
			binOf[c] = uint32(b)
		}
	}
	return binOf, present
}

// sortTogether returns the records of events in cells, sorted, to be walked along each axis.
func sortTogether[T Float](gr *grid, sel *selection[T], sc *scratch) *records[T] {
	most := 0
	for _, ax := range gr.axes {
		most = max(most, ax.bins.count())
	}
	rs := newRecords(sel, &bins{assigned: true, cells: gr.cells}, sc)
	rs.divide(most, sc)
	rs.sort(sel.Weight, sel.unit(), most, sc, func(int) {})
	return rs
}

// along returns the records with the bins and the weights of an axis, the latter in this memory if they are other ones.
func along[T Float](rs *records[T], ax *axisOfGrid, cells int, weights *[]float64, sc *scratch) *records[T] {
	binOf, present := ax.binOf(cells, &sc.arena)
	view := *rs
	if ax.absent {
		*weights = par.Grown(*weights, len(rs.words))
		view.weights = *weights
		sc.team.Run(len(rs.chunks)-1, func(k int) {
			for i := rs.chunks[k]; i < rs.chunks[k+1]; i++ {
				view.weights[i] = 0
				if present[rs.Bin(rs.words[i])] {
					view.weights[i] = rs.weight(i)
				}
			}
		})
	}
	view.binOf = binOf
	return &view
}
