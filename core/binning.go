package core

import (
	"math"
	"slices"
)

// binning finds the bins of masses: most by the cell of a grid that they lie
// in, and those in cells that an edge divides by comparison with the edges. The
// edges of quantile bins are only known once the masses in divided cells are.
type binning struct {
	asked int // bins; fewer where quantile edges coincide
	edges []float64
	table []uint16 // per cell of mass: its bin, or limit + its run
	limit uint16
	runs  []run // of divided cells

	ranks []int // of quantile edges that are still to be found
}

// tableLimit is a number of bins from which on a cell may be a run only because the
// number of its bin has no room in the table: so many bins and runs have.
const tableLimit = 1 << 15

func newTable(asked, cells int, edges []float64) *binning {
	return &binning{asked: asked, edges: edges, table: make([]uint16, cells), limit: uint16(min(asked, tableLimit))}
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

// bins returns the number of bins for n events: that which is asked for, or else one
// that leaves each bin enough events and the fit of the moments something to do.
func (c *Config) bins(n int) int {
	if c.Bins > 0 {
		return c.Bins
	}
	return max(min(n/eventsPerBin, maxBins), c.Order+2)
}

// mostBins returns a number that bins does not exceed.
func (c *Config) mostBins() int {
	if c.Binning == GivenEdges {
		return len(c.Edges) - 1
	}
	return c.bins(math.MaxInt32)
}

// merges reports whether bins without enough events are merged with their neighbours:
// where their number is not asked for.
func (c *Config) merges() bool { return c.Bins == 0 && c.Binning != GivenEdges }

// massCellsFor returns a number of cells with which few of n masses lie in
// divided ones.
func massCellsFor(n, bins int) int {
	return powerOfTwo(max(n/8, min(n, 1<<13), 16*bins), 64, 1<<15)
}

// newBinning returns the binning that a configuration asks for.
func newBinning[T Float](sel *selection[T], cfg *Config) (*binning, error) {
	if err := sel.enoughFor(cfg); err != nil {
		return nil, err
	}
	if cfg.Binning != Quantile {
		edges, err := sel.givenEdges(cfg)
		if err != nil {
			return nil, err
		}
		bn := newTable(len(edges)-1, sel.massCells.cells, edges)
		setCells(bn, sel.massCells)
		return bn, nil
	}
	bn := newTable(cfg.bins(sel.n), sel.massCells.cells, nil)
	bn.ranks = quantileRanks(sel.n, bn.asked)
	counts := sel.parts[0].masses
	for _, p := range sel.parts[1:] {
		for c, more := range p.masses {
			counts[c] += more
		}
	}
	bn.quantileCells(counts)
	return bn, nil
}

// enoughFor returns an error where there is no range of masses to be binned, or
// where there are fewer events than bins.
func (sel *selection[T]) enoughFor(cfg *Config) error {
	if err := sel.checkMassRange(); err != nil {
		return err
	}
	asked := cfg.bins(sel.n)
	if cfg.Binning == GivenEdges || sel.n >= asked {
		return nil
	}
	if cfg.merges() {
		return errorOf(ErrNoEvents, "too few events: %d selected events cannot fill the %d bins that order = %d needs at least: "+
			"use larger batches or a lower order", sel.n, asked, cfg.Order)
	}
	kind := "quantile"
	if cfg.Binning == Uniform {
		kind = "uniform"
	}
	return errorOf(ErrNoEvents, "too few events: %d selected events cannot fill bins = %d %s bins: "+
		"use fewer bins or larger batches", sel.n, asked, kind)
}

// givenEdges returns the edges of bins other than quantile ones.
func (sel *selection[T]) givenEdges(cfg *Config) ([]float64, error) {
	if cfg.Binning == GivenEdges {
		return slices.Clone(cfg.Edges), nil
	}
	edges := uniformEdges(sel.massLo, sel.massHi, cfg.bins(sel.n))
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
func setCells[T Float](bn *binning, g grid[T]) {
	bin := 0
	for c := range bn.table {
		// An edge in a cell below c lies below, or at, every mass of cell c.
		first := bin
		for bin+1 < bn.asked && g.anyCell(T(bn.edges[bin+1])) <= c {
			bin++
		}
		if bin == first && bin < tableLimit {
			bn.table[c] = uint16(bin)
			continue
		}
		bn.table[c] = bn.limit + uint16(len(bn.runs))
		bn.runs = append(bn.runs, run{bin: first})
	}
}

// leftover is an event in a divided cell, whose record has no bin yet.
type leftover struct {
	record uint32
	run    uint32 // and, once that is known, the bin
	mass   float64
}

// settle finds the quantile edges where they are still to be found, and puts
// the bins of leftovers into their records.
func (bn *binning) settle(records []uint64, lefts [][]leftover, la *layout, lo, hi float64, tm *team) {
	if bn.edges == nil {
		near := sortedMasses{sortRuns(bn.runs, lefts, tm), bn.runs}
		var kept []int
		bn.edges, kept = near.edges(bn.ranks, lo, hi)
		if len(bn.edges)-1 < bn.asked {
			for i, r := range records {
				records[i] = la.withBin(r, kept[la.bin(r)])
			}
			for c, bin := range bn.table {
				if bin < bn.limit {
					bn.table[c] = uint16(kept[bin])
				}
			}
			for k := range bn.runs {
				bn.runs[k].bin = kept[bn.runs[k].bin]
			}
		}
	}
	tm.parallel(len(lefts), func(k int) {
		// Bins first: their branches are hard to predict, and would hold up the
		// records, which wait for memory.
		left := lefts[k]
		for i := range left {
			left[i].run = uint32(bn.ofRun(int(left[i].run), left[i].mass))
		}
		for _, l := range left {
			records[l.record] |= la.binBits(int(l.run))
		}
	})
}

// placedBins is a binsOf, once the edges are known.
func placedBins[T Float](dst []uint32, bn *binning, sel *selection[T], lo int) {
	for i, cells := range sel.places[lo:][:len(dst)] {
		if cells == noPlace {
			continue
		}
		bin := bn.table[cells&(1<<massCellBits-1)]
		dst[i] = uint32(bin)
		if bin >= bn.limit {
			dst[i] = uint32(bn.ofRun(int(bin-bn.limit), float64(sel.Mass[lo+i])))
		}
	}
}

// mergeRecords puts records into the bins that to maps theirs to.
func mergeRecords(records []uint64, to []int, la *layout, tm *team) {
	parts := tm.partsFor(len(records))
	tm.parallel(parts, func(k int) {
		part := records[len(records)*k/parts : len(records)*(k+1)/parts]
		for i, r := range part {
			part[i] = la.withBin(r, to[la.bin(r)])
		}
	})
}

// mergedEdges leaves out the edges between bins that to maps to the same number.
func mergedEdges(edges []float64, to []int) []float64 {
	merged := append([]float64(nil), edges[0])
	for b := range to {
		if b == len(to)-1 || to[b+1] > to[b] {
			merged = append(merged, edges[b+1])
		}
	}
	return merged
}

// sortRuns returns the masses of leftovers in order: runs stand in order, so that
// it is enough to sort each by itself.
func sortRuns(runs []run, lefts [][]leftover, tm *team) []float64 {
	next := make([]int, len(runs))
	for k, r := range runs {
		next[k] = r.index
	}
	var total int
	for _, left := range lefts {
		total += len(left)
	}
	masses := make([]float64, total)
	for _, left := range lefts {
		for _, l := range left {
			masses[next[l.run]] = l.mass
			next[l.run]++
		}
	}
	tm.parallel(len(runs), func(k int) { slices.Sort(masses[runs[k].index:next[k]]) })
	return masses
}

// ofRun returns the bin of a mass in a run, once the edges are known.
func (bn *binning) ofRun(run int, m float64) int {
	lo, hi := bn.runs[run].bin, len(bn.edges)-2
	if run+1 < len(bn.runs) {
		hi = bn.runs[run+1].bin
	}
	for lo < hi {
		if mid := (lo + hi) / 2; bn.edges[mid+1] <= m {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
