package bins

import (
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
)

// NoBin stands for the bin of an event that takes no part.
const NoBin = events.NoPair

// memory is that of the bins of a call.
type memory struct {
	divided        [][]divided // by block of events
	words          []uint64    // see ranked.go
	cellOf, cellAt []uint32    // of each event, see grid.go and nested.go
	order, spare   []uint32    // of events, see nested.go
}

// tableLimit is a number of bins from which on a cell may be a run only because the
// number of its bin has no room in the table: so many bins and runs have.
const tableLimit = 1 << 15

// fits reports whether the table has room for the numbers of so many bins.
func (bs *Bins) fits(count int) bool { return count < tableLimit }

func newTable(asked, count int, edges []float64, sc *par.Scratch) *Bins {
	return par.New(&sc.Arena, Bins{Edges: edges, table: par.Make[uint16](&sc.Arena, count), limit: uint16(min(asked, tableLimit))})
}

// setCells sets the table and the runs from the edges.
func setCells[T events.Float](bs *Bins, ce events.Cells[T]) {
	bin := 0
	for c := range bs.table {
		// An edge in a cell below c lies below, or at, every mass of cell c.
		first := bin
		for bin+1 < bs.Count() && ce.Cell(T(bs.Edges[bin+1])) <= c {
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
func assignBins[T events.Float](bs *Bins, sel *events.Selection[T], sc *par.Scratch) [][]divided {
	const size = 1 << 14
	if bs.Edges != nil && !bs.fits(bs.Count()) {
		return nil
	}
	bs.Assigned = bs.fits(int(bs.limit))
	kept := par.Kept[memory](sc)
	kept.divided = par.Grown(kept.divided, (len(sel.Mass)+size-1)/size)
	sc.Team.Run(len(kept.divided), func(k int) {
		found, table, limit, assigned := kept.divided[k][:0], bs.table, uint32(bs.limit), bs.Assigned
		lo := size * k
		pairs := sel.Pairs[lo:min(lo+size, len(sel.Mass))]
		for i, cells := range pairs {
			c := cells & events.MassCellMask
			if int(c) >= len(table) {
				continue // it takes no part
			}
			bin := uint32(table[c])
			if bin >= limit {
				found = append(found, divided{bin - limit, uint32(lo + i)})
				bin = 0 // until assignDivided
			}
			if assigned {
				pairs[i] = cells&^events.MassCellMask | bin
			}
		}
		kept.divided[k] = found
	})
	return kept.divided
}

// assignDivided completes what assignBins has left out, now that the edges are known.
func assignDivided[T events.Float](bs *Bins, sel *events.Selection[T], found [][]divided, sc *par.Scratch) {
	if !bs.Assigned {
		return
	}
	sc.Team.Run(len(found), func(k int) {
		for _, d := range found[k] {
			sel.Pairs[d.event] |= uint32(bs.ofRun(int(d.run), float64(sel.Mass[d.event])))
		}
	})
}

// Find sets dst to the bins of the events from lo on.
func Find[T events.Float](dst []uint32, bs *Bins, sel *events.Selection[T], lo int) {
	pairs := sel.Pairs[lo:][:len(dst)]
	if bs.Assigned {
		for i, cells := range pairs {
			b := cells & events.MassCellMask
			if cells == events.NoPair {
				b = NoBin
			}
			dst[i] = b
		}
		return
	}
	for i, cells := range pairs {
		dst[i] = NoBin
		if cells != events.NoPair {
			dst[i] = uint32(bs.table[cells&events.MassCellMask])
			if dst[i] >= uint32(bs.limit) {
				dst[i] = uint32(bs.ofRun(int(dst[i]-uint32(bs.limit)), float64(sel.Mass[lo+i])))
			}
		}
	}
}

// ofRun returns the bin of a mass in a run.
func (bs *Bins) ofRun(run int, m float64) int {
	lo, hi := bs.runs[run].bin, bs.Count()-1
	if run+1 < len(bs.runs) {
		hi = bs.runs[run+1].bin
	}
	for lo < hi {
		if mid := (lo + hi) / 2; bs.Edges[mid+1] <= m {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// renumber gives the bin b of the table, and of the events, the number to[b].
func renumber[T events.Float](bs *Bins, sel *events.Selection[T], to []int) {
	for c, bin := range bs.table {
		if bin < bs.limit {
			bs.table[c] = uint16(to[bin])
		}
	}
	for k := range bs.runs {
		bs.runs[k].bin = to[bs.runs[k].bin]
	}
	if bs.Assigned {
		for i, cells := range sel.Pairs {
			if cells != events.NoPair {
				sel.Pairs[i] = cells&^events.MassCellMask | uint32(to[cells&events.MassCellMask])
			}
		}
	}
}
