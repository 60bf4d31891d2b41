// Package bins divides the masses of events into bins.
package bins

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
)

// Binning is the source of the edges.
type Binning int

// The kinds of bins; package core documents them.
const (
	Quantile Binning = iota
	Uniform
	GivenEdges
)

// Options are the options of the bins of one variable.
type Options struct {
	events.Limits
	Kind  Binning
	Asked int       // the number of bins; 0: it follows the number of events
	Most  int       // a limit on the number of bins where none is asked for; 0: 32
	Few   bool      // whether Most is the number of bins that the weights allow, see Settle
	Edges []float64 // for GivenEdges
	Grid  bool      // the variable is one of several, and their cells may be empty
	Order int       // of the polynomial response, whose order + 1 parameters need at least order + 2 bins
}

// By default there are at most 32 bins, with at least InEach effective events, (sum w)^2 / sum w^2, on average.
// studies/simple_model/bins.py is the study behind these numbers.
const (
	byDefault = 32
	InEach    = 8
)

// FewestEffective is the lowest number of effective events from which the variance of a bin can be estimated.
const FewestEffective = 1.05

// Number returns the number of bins that is asked for; 0: it follows the number of events.
func (o *Options) Number() int {
	if o.Kind == GivenEdges {
		return max(0, len(o.Edges)-1)
	}
	return o.Asked
}

// For returns the number of bins for n events.
func (o *Options) For(n int) int {
	return cmp.Or(o.Number(), max(min(n/InEach, cmp.Or(o.Most, byDefault)), o.Order+2))
}

// Merges reports whether a bin with too few events is merged with its neighbor: only if the caller has not chosen the bins.
func (o Options) Merges() bool {
	return o.Asked == 0 && o.Kind != GivenEdges
}

// Bins are intervals of one mass, or cells of several variables.
type Bins struct {
	Edges  []float64                         // of one variable, in units of mass
	Bounds [][events.MaxVariables][2]float64 // of the cells of several variables; nil: there is one variable
	Means  []float64                         // of functions over the bins, see Settle: a row a bin
	fewest int                               // events in the smallest of the quantile bins; 0 for other bins
}

// Count returns the number of bins.
func (bs *Bins) Count() int {
	if bs.Bounds != nil {
		return len(bs.Bounds)
	}
	return len(bs.Edges) - 1
}

// Error returns an error about bin b.
func (bs *Bins) Error(b int, format string, args ...any) error {
	var name string
	if bs.Bounds != nil {
		var ranges []string
		for _, r := range bs.Bounds[b] {
			if r != [2]float64{} {
				ranges = append(ranges, errs.Range(r))
			}
		}
		name = fmt.Sprintf("cell %d of %d, mass in %s,", b, bs.Count(), strings.Join(ranges, " x "))
	} else {
		closing := ")"
		if b == bs.Count()-1 {
			closing = "]"
		}
		name = fmt.Sprintf("bin %d of %d, mass in [%v, %v%s,", b, bs.Count(), bs.Edges[b], bs.Edges[b+1], closing)
	}
	return errs.Of(errs.ErrBin, "%s "+format, append([]any{name}, args...)...)
}

// New returns the bins of a selection, and replaces the cells of its masses by their bins.
func New[T events.Float](sel *events.Selection[T], o *Options, sc *par.Scratch) (*Bins, error) {
	if err := checkEnough(sel, o); err != nil {
		return nil, err
	}
	var err error
	bs, kind := new(Bins), o.Kind
	if o.Merges() && sel.Weight != nil && !o.Few {
		kind = Quantile // these tell how many bins the weights allow
	}
	switch kind {
	case Quantile:
		bs.Edges, bs.fewest = quantileEdges(sel, o.For(sel.N), sc)
	case GivenEdges:
		bs.Edges = slices.Clone(o.Edges)
	case Uniform:
		bs.Edges, err = uniformEdges(sel.MassLo, sel.MassHi, o.For(sel.N))
	}
	if err == nil {
		assignBins(sel, bs.Edges, sc)
	}
	return bs, err
}

// checkEnough returns an error if the mass range cannot be divided, or if there are fewer events than bins.
func checkEnough[T events.Float](sel *events.Selection[T], o *Options) error {
	if sel.MassLo == sel.MassHi {
		return errs.Of(errs.ErrBin, "mass: all %d selected events have the same mass %v, so they have no range to bin: "+
			"give mass_range or edges, or a mass that varies", sel.N, sel.MassLo)
	}
	if !events.IsFinite(sel.MassHi - sel.MassLo) {
		return errs.Of(errs.ErrOverflow, "mass: the selected events span [%v, %v], which is too wide for double precision", sel.MassLo, sel.MassHi)
	}
	asked := o.For(sel.N)
	if o.Kind == GivenEdges || o.Grid || sel.N >= asked {
		if asked > events.MaxBins {
			return errs.Of(errs.ErrOption, "bins or edges make %d bins, and %d are possible: use fewer", asked, events.MaxBins)
		}
		return nil
	}
	if o.Merges() {
		return errs.Of(errs.ErrNoEvents, "too few events: %d selected events cannot fill the %d bins that a response of order = %d needs: "+
			"use larger batches or a lower order", sel.N, asked, o.Order)
	}
	kind := "quantile"
	if o.Kind == Uniform {
		kind = "uniform"
	}
	return errs.Of(errs.ErrNoEvents, "too few events: %d selected events cannot fill bins = %d %s bins: "+
		"use fewer bins or larger batches", sel.N, asked, kind)
}

// uniformEdges returns numpy.linspace(lo, hi, n+1), to the last bit.
func uniformEdges(lo, hi float64, n int) ([]float64, error) {
	edges := make([]float64, n+1)
	width := (hi - lo) / float64(n)
	for k := range edges {
		edges[k] = float64(float64(k)*width) + lo
	}
	edges[n] = hi
	for b := range n {
		if !(edges[b+1] > edges[b]) {
			return nil, errs.Of(errs.ErrOption, "bins = %d: mass range [%v, %v] is too narrow for so many bins in double precision", n, lo, hi)
		}
	}
	return edges, nil
}

// assignBins replaces the cells of the masses by their bins. If no edge lies in the cell of a mass, the cell has the bin.
func assignBins[T events.Float](sel *events.Selection[T], edges []float64, sc *par.Scratch) {
	inner := edges[1 : len(edges)-1]
	cells := sel.MassCells.Count()
	table := par.Make[uint32](&sc.Arena, cells+1) // the bin of the lowest masses of each cell
	next := 0
	for bin, edge := range inner {
		c := int(sel.MassCells.Of(T(edge)))
		for ; next <= c; next++ {
			table[next] = uint32(bin)
		}
	}
	for ; next < len(table); next++ {
		table[next] = uint32(len(inner))
	}
	sc.Blocks(len(sel.Pairs), par.Share, func(lo, hi int) {
		pairs := sel.Pairs[lo:hi]
		for i, pair := range pairs {
			c := pair & events.BinMask
			if int(c) >= cells {
				continue // it takes no part
			}
			bin, last := table[c], table[c+1]
			for bin < last { // edges lie in the cell: by binary search
				if mid := (bin + last) >> 1; inner[mid] <= float64(sel.Mass[lo+i]) {
					bin = mid + 1
				} else {
					last = mid
				}
			}
			pairs[i] = pair&^events.BinMask | bin
		}
	})
}
