package core

import (
	"math"
	"sort"

	"github.com/libmode/libmode/core/internal/par"
)

// manyInRuns is which share of the masses lies in runs where it is asked whether their masses are equal. Of masses that
// are spread far fewer do. mostRuns is how many runs there may be.
const (
	manyInRuns = 16
	mostRuns   = 1 << 12
)

// equalRuns finds the runs of many events whose masses are all equal, as those of integers are. Of these only one stands in
// the sorted masses, and the table has the bin of their cell: that above all edges at ranks in it, since ranks move down
// to the start of equal masses.
func equalRuns[T Float](bs *bins, ranks []int, sel *selection[T], sc *scratch) {
	count := len(bs.runs)
	if sel.n < par.AloneCall || count == 0 || count > mostRuns || bs.runs[count-1].index+bs.runs[count-1].count < sel.n/manyInRuns {
		return
	}
	type ends struct{ lowest, highest T }
	found := make([]ends, count*len(sel.parts))
	sc.team.Run(len(sel.parts), func(k int) {
		p, table, limit := &sel.parts[k], bs.table, bs.limit
		own := found[k*count : (k+1)*count]
		for r := range own {
			own[r] = ends{T(math.Inf(1)), T(math.Inf(-1))}
		}
		masses := sel.Mass[p.lo:p.hi]
		for i, cells := range sel.cellsOf[p.lo:p.hi] {
			if c := int(cells & massCellMask); c < len(table) && table[c] >= limit {
				m, e := masses[i], &own[table[c]-limit]
				e.lowest, e.highest = min(e.lowest, m), max(e.highest, m)
			}
		}
	})
	index := 0
	for r := range bs.runs {
		ru, all := &bs.runs[r], found[r]
		for k := 1; k < len(sel.parts); k++ {
			e := found[k*count+r]
			all = ends{min(all.lowest, e.lowest), max(all.highest, e.highest)}
		}
		ru.index = index
		if all.lowest == all.highest {
			bs.table[ru.cell] = uint16(sort.SearchInts(ranks, ru.rank+ru.count))
			ru.count, ru.equal, ru.mass = 1, true, float64(all.lowest)
		}
		index += ru.count
	}
}
