package loss

import (
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/moments"
)

// View is what the loss of one subset sees of one variable of mass, or of all variables together. It outlives the call.
type View struct {
	Subset    int
	Bin       []uint32 // of each event of the subset, or events.NoPair
	Bins      int
	Residuals func(cdf []float64) // see moments.Residuals
}

// show keeps the bins of a selection for Plan.Watch.
func (pt part[T]) show(sel *events.Selection[T], bins int, ba *moments.Basis) {
	if pt.plan.Watch == nil {
		return
	}
	view := View{Subset: pt.subset, Bin: make([]uint32, len(sel.Mass)), Bins: bins, Residuals: moments.Residuals(ba, &pt.plan.Config)}
	sel.FindBins(view.Bin, 0)
	*pt.views = append(*pt.views, view)
}
