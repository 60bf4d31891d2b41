package core

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/libmode/libmode/core/internal/par"
)

// bins are the mass bins of a loss. They find the bins of masses: most by the cell
// that they lie in, and those in cells that an edge divides by comparison with the
// edges.
type bins struct {
	edges    []float64
	cells    int                        // of several variables, which are the bins; 0: there is one variable
	bounds   [][MaxVariables][2]float64 // of these cells
	means    []float64                  // mean functions, a row a bin; nil where the moments need none
	newton   *newton                    // the first of these; nil: they are no polynomials of one variable
	events   float64                    // in a bin, in the mean
	table    []uint16                   // by cell of mass: the bin, or limit + the run
	limit    uint16
	runs     []run // of divided cells
	assigned bool  // events have the numbers of their bins in place of those of their cells of mass
}

func (bs *bins) count() int {
	if bs.cells > 0 {
		return bs.cells
	}
	return len(bs.edges) - 1
}

// error says what is wrong with a bin.
func (bs *bins) error(b int, format string, args ...any) error {
	return errorOf(ErrBin, "%s "+format, append([]any{bs.where(b)}, args...)...)
}

// where says in an error which bin it is about.
func (bs *bins) where(b int) string {
	if bs.cells > 0 {
		var ranges []string
		for _, r := range bs.bounds[b] {
			if r != [2]float64{} {
				ranges = append(ranges, shownRange(r))
			}
		}
		return fmt.Sprintf("cell %d of %d, mass in %s,", b, bs.count(), strings.Join(ranges, " x "))
	}
	closing := ")"
	if b == bs.count()-1 {
		closing = "]"
	}
	return fmt.Sprintf("bin %d of %d, mass in [%v, %v%s,", b, bs.count(), bs.edges[b], bs.edges[b+1], closing)
}

// tableLimit is a number of bins from which on a cell may be a run only because the
// number of its bin has no room in the table: so many bins and runs have.
const tableLimit = 1 << 15

// fits reports whether the table has room for the numbers of so many bins.
func (bs *bins) fits(count int) bool { return count < tableLimit }

func newTable(asked, count int, edges []float64, sc *scratch) *bins {
	return par.New(&sc.arena, bins{edges: edges, table: par.Make[uint16](&sc.arena, count), limit: uint16(min(asked, tableLimit))})
}

// maxBins is the number of bins where none is asked for and there are events enough.
const maxBins = 32

// eventsPerBin is how many events a bin gets where no number of bins is asked for,
// and enoughEvents the number of effective events, (sum w)^2 / sum w^2, below which
// such a bin is merged with the next. docs/options.md has the study behind them.
const (
	eventsPerBin = 8
	enoughEvents = 4
)

// binsFor returns the number of bins for n events: that which is asked for, or else one
// that leaves each bin enough events and the fit of the moments something to do.
func binsFor(cfg *Config, n int) int {
	if cfg.Bins > 0 {
		return cfg.Bins
	}
	return max(min(n/eventsPerBin, maxBins), cfg.functions()+1)
}

// mostBins returns a number that the bins do not exceed.
func mostBins(cfg *Config) int {
	switch cfg.Binning {
	case GivenEdges:
		return len(cfg.Edges) - 1
	case Values:
		return maxValues
	}
	return binsFor(cfg, math.MaxInt32)
}

// merges reports whether bins without enough events are merged with their neighbours:
// where their number is not asked for.
func merges(cfg *Config) bool {
	return cfg.Bins == 0 && (cfg.Binning == Quantile || cfg.Binning == Uniform)
}

// massCellsFor returns a number of cells with which few of n masses lie in
// divided ones.
func massCellsFor(n, bins int) int {
	return powerOfTwo(max(n/8, min(n, 1<<13), 16*bins), 64, 1<<15)
}

// newBins returns the bins that a configuration asks for, with what the moments need
// to know of the events in them. Weights are in the given unit.
func newBins[T Float](sel *selection[T], cfg *Config, unit float64, sc *scratch) (*bins, error) {
	if err := enoughFor(sel, cfg); err != nil {
		return nil, err
	}
	var bs *bins
	if cfg.Binning == Quantile {
		make := quantileBins[T]
		if sel.massCells.count == 1 {
			make = rankedBins[T]
		}
		bs = make(sel, binsFor(cfg, sel.n), sc)
	} else {
		edges, err := givenEdges(sel, cfg)
		if err != nil {
			return nil, err
		}
		bs = newTable(len(edges)-1, sel.massCells.count, edges, sc)
		setCells(bs, sel.massCells)
		assignDivided(bs, sel, assignBins(bs, sel, sc), sc)
	}
	of := func(dst []uint32, lo int) { binsOfEvents(dst, bs, sel, lo) }
	return bs, settle(bs, sel, cfg, unit, of, sc)
}

// settle merges bins that have too few events, where their number was not asked
// for, and finds the mean polynomials that moments are made of.
func settle[T Float](bs *bins, sel *selection[T], cfg *Config, unit float64, of binsOf, sc *scratch) error {
	merging := merges(cfg) && (sel.Weight != nil || cfg.Binning == Uniform) // others have enough already
	if k := knotOutside(cfg.Knots, sel.massLo, sel.massHi); k >= 0 {
		return errorOf(ErrBin, "knots[%d] = %v does not lie inside the mass range [%v, %v] of the selected events: give a mass_range that has it inside",
			k, cfg.Knots[k], sel.massLo, sel.massHi)
	}
	co, nw := columnsOf(sel, cfg, bs.count(), of)
	bs.newton, bs.events = nw, float64(sel.n)/float64(bs.count())
	if merging || co.count > 0 {
		su := sumBins(sel, bs.count(), co, unit, of, sc)
		if merging {
			if to := su.merging(enoughEvents); to[len(to)-1] < len(to)-1 {
				su.merge(to)
				merge(bs, sel, to)
			}
		}
		if err := su.check(bs, unit); err != nil {
			return err
		}
		bs.means = su.means(sc)
	} else if cfg.Moments == Projection {
		bs.means = slices.Repeat([]float64{1}, bs.count())
	}
	if merges(cfg) && bs.count() <= cfg.functions() {
		return errorOf(ErrNoEvents, "too few events, or too few that differ in mass: %d selected events make %d bins, "+
			"and a response of %s needs more than %d to be seen in: use larger batches, %s, or give bins or edges",
			sel.n, bs.count(), cfg.shownBasis(), cfg.functions(), cfg.simpler())
	}
	return nil
}

// merge makes one bin of those that to maps to the same number.
func merge[T Float](bs *bins, sel *selection[T], to []int) {
	merged := append([]float64(nil), bs.edges[0])
	for b := range to {
		if b == len(to)-1 || to[b+1] > to[b] {
			merged = append(merged, bs.edges[b+1])
		}
	}
	bs.edges = merged
	renumber(bs, sel, to)
}

// renumber gives the bin b of the table, and of the events, the number to[b].
func renumber[T Float](bs *bins, sel *selection[T], to []int) {
	for c, bin := range bs.table {
		if bin < bs.limit {
			bs.table[c] = uint16(to[bin])
		}
	}
	for k := range bs.runs {
		bs.runs[k].bin = to[bs.runs[k].bin]
	}
	if bs.assigned {
		for i, cells := range sel.cellsOf {
			if cells != noPair {
				sel.cellsOf[i] = cells&^massCellMask | uint32(to[cells&massCellMask])
			}
		}
	}
}

// enoughFor returns an error where there is no range of masses to be binned, or
// where there are fewer events than bins.
func enoughFor[T Float](sel *selection[T], cfg *Config) error {
	if err := sel.checkMassRange(); err != nil {
		return err
	}
	asked := binsFor(cfg, sel.n)
	if cfg.Binning == GivenEdges || cfg.Binning == Values || sel.n >= asked {
		return nil
	}
	if merges(cfg) {
		return errorOf(ErrNoEvents, "too few events: %d selected events cannot fill the %d bins that a response of %s needs at least: "+
			"use larger batches or %s", sel.n, asked, cfg.shownBasis(), cfg.simpler())
	}
	kind := "quantile"
	if cfg.Binning == Uniform {
		kind = "uniform"
	}
	return errorOf(ErrNoEvents, "too few events: %d selected events cannot fill bins = %d %s bins: "+
		"use fewer bins or larger batches", sel.n, asked, kind)
}

// givenEdges returns the edges of bins other than quantile ones.
func givenEdges[T Float](sel *selection[T], cfg *Config) ([]float64, error) {
	if cfg.Binning == GivenEdges {
		return slices.Clone(cfg.Edges), nil
	}
	if cfg.Binning == Values {
		return edgesOfValues(sel)
	}
	edges := uniformEdges(sel.massLo, sel.massHi, binsFor(cfg, sel.n))
	for b := 1; b < len(edges); b++ {
		if !(edges[b] > edges[b-1]) {
			return nil, errorOf(ErrOption, "bins = %d: mass range [%v, %v] is too narrow for so many bins in double precision", len(edges)-1, sel.massLo, sel.massHi)
		}
	}
	return edges, nil
}

// uniformEdges returns numpy.linspace(lo, hi, n+1), to the last bit.
func uniformEdges(lo, hi float64, n int) []float64 {
	edges := make([]float64, n+1)
	width := (hi - lo) / float64(n)
	for k := range edges {
		edges[k] = float64(float64(k)*width) + lo
	}
	edges[n] = hi
	return edges
}

// setCells sets the table and the runs from the edges.
func setCells[T Float](bs *bins, ce cells[T]) {
	bin := 0
	for c := range bs.table {
		// An edge in a cell below c lies below, or at, every mass of cell c.
		first := bin
		for bin+1 < bs.count() && ce.of(T(bs.edges[bin+1])) <= c {
			bin++
		}
		if bin == first && bin < tableLimit {
			bs.table[c] = uint16(bin)
			continue
		}
		bs.table[c] = bs.limit + uint16(len(bs.runs))
		bs.runs = append(bs.runs, run{bin: first})
	}
}

// divided is an event in a cell that an edge divides.
type divided struct{ run, event uint32 }

// assignBins gives events the numbers of their bins in place of those of their cells of mass, if
// these fit, but for those in divided cells. It returns these, by block of events.
func assignBins[T Float](bs *bins, sel *selection[T], sc *scratch) [][]divided {
	const size = 1 << 14
	if bs.edges != nil && !bs.fits(bs.count()) {
		return nil
	}
	bs.assigned = bs.fits(int(bs.limit))
	sc.divided = par.Grown(sc.divided, (len(sel.Mass)+size-1)/size)
	sc.team.Run(len(sc.divided), func(k int) {
		found, table, limit, assigned := sc.divided[k][:0], bs.table, uint32(bs.limit), bs.assigned
		lo := size * k
		pairs := sel.cellsOf[lo:min(lo+size, len(sel.Mass))]
		for i, cells := range pairs {
			c := cells & massCellMask
			if int(c) >= len(table) {
				continue // it takes no part
			}
			bin := uint32(table[c])
			if bin >= limit {
				found = append(found, divided{bin - limit, uint32(lo + i)})
				bin = 0 // until assignDivided
			}
			if assigned {
				pairs[i] = cells&^massCellMask | bin
			}
		}
		sc.divided[k] = found
	})
	return sc.divided
}

// assignDivided completes what assignBins has left out, now that the edges are known.
func assignDivided[T Float](bs *bins, sel *selection[T], found [][]divided, sc *scratch) {
	if !bs.assigned {
		return
	}
	sc.team.Run(len(found), func(k int) {
		for _, d := range found[k] {
			sel.cellsOf[d.event] |= uint32(bs.ofRun(int(d.run), float64(sel.Mass[d.event])))
		}
	})
}

// binsOfEvents sets dst to the bins of the events from lo on.
func binsOfEvents[T Float](dst []uint32, bs *bins, sel *selection[T], lo int) {
	pairs := sel.cellsOf[lo:][:len(dst)]
	if bs.assigned {
		for i, cells := range pairs {
			b := cells & massCellMask
			if cells == noPair {
				b = noBin
			}
			dst[i] = b
		}
		return
	}
	for i, cells := range pairs {
		dst[i] = noBin
		if cells != noPair {
			dst[i] = uint32(bs.table[cells&massCellMask])
			if dst[i] >= uint32(bs.limit) {
				dst[i] = uint32(bs.ofRun(int(dst[i]-uint32(bs.limit)), float64(sel.Mass[lo+i])))
			}
		}
	}
}

// ofRun returns the bin of a mass in a run.
func (bs *bins) ofRun(run int, m float64) int {
	lo, hi := bs.runs[run].bin, bs.count()-1
	if run+1 < len(bs.runs) {
		hi = bs.runs[run+1].bin
	}
	for lo < hi {
		if mid := (lo + hi) / 2; bs.edges[mid+1] <= m {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
