package bins

import (
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
)

// edgesOf returns the edges of bins that are not quantile bins.
func edgesOf[T events.Float](sel *events.Selection[T], o *Options) ([]float64, error) {
	if o.Kind == Given {
		return slices.Clone(o.Edges), nil
	}
	if o.Kind == Values {
		return edgesOfValues(sel)
	}
	edges := uniformEdges(sel.MassLo, sel.MassHi, o.For(sel.N))
	for b := 1; b < len(edges); b++ {
		if !(edges[b] > edges[b-1]) {
			return nil, errs.Of(errs.ErrOption, "bins = %d: mass range [%v, %v] is too narrow for so many bins in double precision", len(edges)-1, sel.MassLo, sel.MassHi)
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

// maxValues is how many bins Values makes at most.
const maxValues = 1 << 12

// edgesOfValues returns edges between all masses that occur: each is a bin of its own.
func edgesOfValues[T events.Float](sel *events.Selection[T]) ([]float64, error) {
	var values []T // in order
	for i, m := range sel.Mass {
		if !sel.TakesPart(i) {
			continue
		}
		at, found := slices.BinarySearch(values, m)
		if found {
			continue
		}
		if len(values) == maxValues {
			return nil, errs.Of(errs.ErrOption, "binning = values makes a bin of each mass that occurs, and there are more than %d: "+
				"it is for masses that have few values, such as years or groups", maxValues)
		}
		values = slices.Insert(values, at, m)
	}
	edges := make([]float64, 0, len(values)+1)
	edges = append(edges, sel.MassLo)
	for k := range len(values) - 1 {
		edges = append(edges, midpoint(float64(values[k]), float64(values[k+1])))
	}
	return append(edges, sel.MassHi), nil
}
