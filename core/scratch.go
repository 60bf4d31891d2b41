package core

import "sync"

// scratch is the memory of one call, kept between calls: two words an event,
// and what the bins need. It belongs to one call at a time.
type scratch struct {
	records []uint64  // one a participating event, see order.go
	spare   []uint64  // the sort's other half; later the weights in order of score
	counts  []uint32  // histograms of masses and of sort keys
	totals  []float64 // sums of weights per chunk and bin
	squares []float64 // sums of squared steps per chunk and bin
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// grown returns a slice of length n over the memory of s where that is large
// enough. Its contents are not cleared.
func grown[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}
