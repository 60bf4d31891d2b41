package core

import (
	"slices"
)

// maxValues is how many bins Values makes at most.
const maxValues = 1 << 12

// edgesOfValues returns edges between all masses that occur: each is a bin of its own.
func edgesOfValues[T Float](sel *selection[T]) ([]float64, error) {
	var values []T // in order
	for i, m := range sel.Mass {
		if !sel.takesPart(i) {
			continue
		}
		at, found := slices.BinarySearch(values, m)
		if found {
			continue
		}
		if len(values) == maxValues {
			return nil, errorOf(ErrOption, "binning = values makes a bin of each mass that occurs, and there are more than %d: "+
				"it is for masses that have few values, such as years or groups", maxValues)
		}
		values = slices.Insert(values, at, m)
	}
	edges := make([]float64, 0, len(values)+1)
	edges = append(edges, sel.massLo)
	for k := range len(values) - 1 {
		edges = append(edges, midpoint(float64(values[k]), float64(values[k+1])))
	}
	return append(edges, sel.massHi), nil
}
