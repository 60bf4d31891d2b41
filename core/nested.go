package core

import "github.com/libmode/libmode/core/internal/par"

// cellsOf returns the cells of the space of several variables in which events, all inside the ranges, lie, as bins, and
// the cell of each event. Cells without events are left out.
func cellsOf[T Float](ev Events[T], index []uint32, in *inside, cfg *Config, sc *scratch) (*bins, []uint32, error) {
	asked := jointBinsFor(cfg, len(ev.Masses), len(ev.Score))
	axis := func(k int) Config { // the bins of one variable, without what moments need to know
		one := cfg.of(k)
		one.Bins, one.Moments = asked[k], Quadrature
		if one.Binning != GivenEdges {
			one.MassRange = in.ranges[k]
		}
		return one
	}
	if cfg.Binning == Quantile {
		return nestedCells(ev, index, axis, sc)
	}
	gr := newGrid(len(ev.Score), sc)
	for k, mass := range ev.Masses {
		v := variable[T]{number: k, mass: mass, cfg: axis(k)}
		bs, sel, err := v.bins(Events[T]{Score: ev.Score}, index, sc)
		if err != nil {
			return nil, nil, v.named(err)
		}
		if !divideGrid(gr, bs, sel) {
			return nil, nil, tooManyCells(gr.cells)
		}
	}
	return gr.filled(), gr.cellOf, nil
}

func tooManyCells(cells int) error {
	return errorOf(ErrOption, "bins (or edges) of all variables make %d cells, and %d are possible: use fewer", cells, mostCells)
}

// nest is events in order of their cells.
type nest[T Float] struct {
	order  []uint32 // events, those of a cell side by side; nil: as they stand
	starts []int    // where those of each cell begin, and the end
	bounds [][MaxVariables][2]float64
	cellAt []uint32 // the cell of each event, in this order, after the next division
}

// nestedCells divides the events into quantile bins of the first variable, each of these into quantile bins of
// the second, and so on.
func nestedCells[T Float](ev Events[T], index []uint32, axis func(k int) Config, sc *scratch) (*bins, []uint32, error) {
	n := len(ev.Score)
	sc.cellOf, sc.cellAt = par.Grown(sc.cellOf, n), par.Grown(sc.cellAt, n)
	ne := &nest[T]{starts: []int{0, n}, bounds: make([][MaxVariables][2]float64, 1), cellAt: sc.cellAt}
	for k, mass := range ev.Masses {
		cfg, places := axis(k), index
		if k > 0 {
			mass, places = ne.inOrder(mass, index, sc)
		}
		v := variable[T]{number: k, mass: mass, cfg: cfg}
		counts, err := ne.divide(&v, places, sc)
		if err != nil {
			return nil, nil, v.named(err)
		}
		if k+1 < len(ev.Masses) {
			ne.arrange(counts, sc)
		}
	}
	ne.assign(sc.cellOf, sc)
	return &bins{assigned: true, cells: len(ne.bounds), bounds: ne.bounds}, sc.cellOf, nil
}

// inOrder returns the masses and the places of the events in order of their cells.
func (ne *nest[T]) inOrder(mass []T, index []uint32, sc *scratch) ([]T, []uint32) {
	memory := massesOf[T](sc)
	*memory = par.Grown(*memory, len(mass))
	sc.team.PartsFor(len(mass))
	sc.team.Blocks(len(mass), nestedAtATime, func(lo, hi int) { pick(*memory, mass, lo, ne.order[lo:hi]) })
	if index == nil {
		return *memory, ne.order
	}
	places := make([]uint32, len(index))
	for i, event := range ne.order {
		places[i] = index[event]
	}
	return *memory, places
}

// massesOf returns memory of a call.
func massesOf[T Float](sc *scratch) *[]T {
	if m, ok := any(&sc.singleMasses).(*[]T); ok {
		return m
	}
	return any(&sc.doubleMasses).(*[]T)
}

// divide divides each cell into quantile bins of a variable, of whose values these are in order of the cells: as many
// bins as the cell has events at most. It returns how many events the new cells have.
func (ne *nest[T]) divide(v *variable[T], places []uint32, sc *scratch) (counts []int, err error) {
	old, asked, masses := ne.bounds, v.cfg.Bins, v.mass
	ne.bounds = nil
	for c, bound := range old {
		lo, hi := ne.starts[c], ne.starts[c+1]
		cell := variable[T]{mass: masses[lo:hi], cfg: v.cfg}
		cell.cfg.Bins = min(asked, hi-lo)
		var of []uint32
		if places != nil {
			of = places[lo:hi]
		}
		bs, sel, err := cell.bins(Events[T]{Score: cell.mass}, of, sc)
		if err != nil {
			return nil, err
		}
		numbers, first := ne.cellAt[lo:hi], uint32(len(ne.bounds))
		sc.team.Blocks(len(numbers), nestedAtATime, func(lo, hi int) { binsOfEvents(numbers[lo:hi], bs, sel, lo) })
		for b := range bs.count() {
			bound[v.number] = [2]float64{bs.edges[b], bs.edges[b+1]}
			ne.bounds = append(ne.bounds, bound)
		}
		if len(ne.bounds) > mostCells {
			return nil, tooManyCells(len(ne.bounds))
		}
		counts = append(counts, make([]int, bs.count())...)
		for i, b := range numbers {
			numbers[i] = first + b
			counts[first+b]++
		}
	}
	return counts, nil
}

// arrange brings the events into the order of their new cells.
func (ne *nest[T]) arrange(counts []int, sc *scratch) {
	ne.starts = []int{0}
	for _, count := range counts {
		ne.starts = append(ne.starts, ne.starts[len(ne.starts)-1]+count)
	}
	next := append([]int(nil), ne.starts...)
	sc.spareOrder = par.Grown(sc.spareOrder, len(ne.cellAt))
	for i, c := range ne.cellAt {
		sc.spareOrder[next[c]] = ne.event(i)
		next[c]++
	}
	sc.order, sc.spareOrder = sc.spareOrder, sc.order
	ne.order = sc.order
}

// event returns which event has a place in the order.
func (ne *nest[T]) event(i int) uint32 {
	if ne.order == nil {
		return uint32(i)
	}
	return ne.order[i]
}

// assign sets the cell of each event, which are in order of the cells of all variables but the last.
func (ne *nest[T]) assign(cellOf []uint32, sc *scratch) {
	sc.team.PartsFor(len(ne.cellAt))
	sc.team.Blocks(len(ne.cellAt), nestedAtATime, func(lo, hi int) {
		cells := ne.cellAt[lo:hi]
		for i, event := range ne.order[lo:hi] {
			cellOf[event] = cells[i]
		}
	})
}

// nestedAtATime is how many events a goroutine takes at a time.
const nestedAtATime = 1 << 14
