package bins

import (
	"math"
	"sort"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
)

// rankedBins is quantileBins for few events: it sorts all masses, so that the bin of an event
// follows from its rank.
func rankedBins[T events.Float](sel *events.Selection[T], asked int, sc *par.Scratch) *Bins {
	layout := radix.NewLayout[T](sel.MassMin, sel.MassMax, math.MaxUint64, len(sel.Mass), 1)
	kept := par.Kept[memory](sc)
	kept.words = par.Grown(kept.words, sel.N)
	words := kept.words
	next := 0
	for i, cells := range sel.Pairs {
		if cells != events.NoPair {
			words[next] = radix.Pack(&layout, sel.Mass[i], i)
			next++
		}
	}
	radix.Sort(words, []uint32{0, uint32(len(words))}, &layout, sel.Mass)
	masses := par.Make[float64](&sc.Arena, len(words))
	for k, r := range words {
		masses[k] = float64(sel.Mass[r&layout.IndexMask])
	}
	bs := par.New(&sc.Arena, Bins{Assigned: true})
	all := sortedMasses{masses, []run{{count: len(masses)}}}
	bs.Edges, _ = all.edges(quantileRanks(sel.N, asked, &sc.Arena), sel.MassLo, sel.MassHi, &sc.Arena)
	from := 0
	for bin := range bs.Count() {
		to := len(words)
		if bin < bs.Count()-1 {
			to = sort.SearchFloat64s(masses, bs.Edges[bin+1])
		}
		for _, r := range words[from:to] {
			sel.Pairs[r&layout.IndexMask] |= uint32(bin)
		}
		from = to
	}
	return bs
}
