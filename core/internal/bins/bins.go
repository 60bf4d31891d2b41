// Package bins divides the masses of events into bins.
package bins

import (
	"fmt"
	"math"
	"strings"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
)

// Kind says where the edges come from.
type Kind int

// The kinds, in the order of the option binning.
const (
	Quantile Kind = iota
	Uniform
	Given
	Values
)

// Options says which bins are wanted.
type Options struct {
	Kind      Kind
	Asked     int       // the number of bins; 0: as many as the events are enough for
	Edges     []float64 // of Given
	Functions int       // the free numbers of the response that is fitted to the bins: there must be more bins
	Response  string    // what errors call that response, "order = 2"
	Simpler   string    // what errors suggest in its place, "a lower order"
}

// Where no number of bins is asked for there are at most most, with inEach events in each. One whose number of effective
// events, (sum w)^2 / sum w^2, is below enough is merged with the next. docs/options.md has the study behind them.
const (
	most   = 32
	InEach = 8
	enough = 4
)

// For returns the number of bins of n events: the one that is asked for, or else one that leaves each bin enough events
// and the fit something to do.
func (o *Options) For(n int) int {
	if o.Asked > 0 {
		return o.Asked
	}
	return max(min(n/InEach, most), o.Functions+1)
}

// Most returns a number that the bins do not exceed.
func (o *Options) Most() int {
	switch o.Kind {
	case Given:
		return len(o.Edges) - 1
	case Values:
		return maxValues
	}
	return o.For(math.MaxInt32)
}

// merges reports whether bins without enough events are merged with their neighbours: where their number is not asked for.
func (o *Options) merges() bool { return o.Asked == 0 && (o.Kind == Quantile || o.Kind == Uniform) }

// Bins are the bins of the masses of a selection. A mass finds its bin by the cell that it lies in, and by comparison with
// the edges where an edge divides the cell.
type Bins struct {
	Edges    []float64                         // in units of mass
	Cells    int                               // of several variables, which are the bins; 0: there is one variable
	Bounds   [][events.MaxVariables][2]float64 // of these cells
	table    []uint16                          // by cell of mass: the bin, or limit + the run
	limit    uint16
	runs     []run // of divided cells
	Assigned bool  // events have the numbers of their bins in place of those of their cells of mass
}

// Count returns the number of bins.
func (bs *Bins) Count() int {
	if bs.Cells > 0 {
		return bs.Cells
	}
	return len(bs.Edges) - 1
}

// Error says what is wrong with a bin.
func (bs *Bins) Error(b int, format string, args ...any) error {
	return errs.Of(errs.ErrBin, "%s "+format, append([]any{bs.where(b)}, args...)...)
}

// where says in an error which bin it is about.
func (bs *Bins) where(b int) string {
	if bs.Cells > 0 {
		var ranges []string
		for _, r := range bs.Bounds[b] {
			if r != [2]float64{} {
				ranges = append(ranges, errs.Range(r))
			}
		}
		return fmt.Sprintf("cell %d of %d, mass in %s,", b, bs.Count(), strings.Join(ranges, " x "))
	}
	closing := ")"
	if b == bs.Count()-1 {
		closing = "]"
	}
	return fmt.Sprintf("bin %d of %d, mass in [%v, %v%s,", b, bs.Count(), bs.Edges[b], bs.Edges[b+1], closing)
}

// New returns the bins of a selection.
func New[T events.Float](sel *events.Selection[T], o *Options, sc *par.Scratch) (*Bins, error) {
	if err := checkEnough(sel, o); err != nil {
		return nil, err
	}
	if o.Kind == Quantile {
		if sel.MassCells.Count == 1 {
			return rankedBins(sel, o.For(sel.N), sc), nil
		}
		return quantileBins(sel, o.For(sel.N), sc), nil
	}
	edges, err := edgesOf(sel, o)
	if err != nil {
		return nil, err
	}
	bs := newTable(len(edges)-1, sel.MassCells.Count, edges, sc)
	setCells(bs, sel.MassCells)
	assignDivided(bs, sel, assignBins(bs, sel, sc), sc)
	return bs, nil
}

// checkEnough returns an error where there is no range of masses to be binned, or
// where there are fewer events than bins.
func checkEnough[T events.Float](sel *events.Selection[T], o *Options) error {
	if err := sel.CheckMassRange(); err != nil {
		return err
	}
	asked := o.For(sel.N)
	if o.Kind == Given || o.Kind == Values || sel.N >= asked {
		return nil
	}
	if o.merges() {
		return errs.Of(errs.ErrNoEvents, "too few events: %d selected events cannot fill the %d bins that a response of %s needs at least: "+
			"use larger batches or %s", sel.N, asked, o.Response, o.Simpler)
	}
	kind := "quantile"
	if o.Kind == Uniform {
		kind = "uniform"
	}
	return errs.Of(errs.ErrNoEvents, "too few events: %d selected events cannot fill bins = %d %s bins: "+
		"use fewer bins or larger batches", sel.N, asked, kind)
}
