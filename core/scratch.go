package core

import "sync"

// scratch is the memory of one call, kept between calls. It belongs to one call
// at a time.
type scratch struct {
	team    *team
	counts  []uint32     // of masses and scores by cell
	places  []uint32     // the cells of each event, see select.go
	lefts   [][]leftover // per part, see binning.go
	records []uint64     // one for each event that takes part, see order.go
	weights []float64    // in order of the records, where there are weights or, in their place, results
	totals  []float64    // sums of weights per chunk and bin
	squares []float64    // sums of squared steps per chunk and bin
	powers  []powers     // of the steps of each bin
	single  gathered[float32]
	double  gathered[float64]
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// takeScratch returns scratch for one call, with a team of its own.
func takeScratch() *scratch {
	sc := scratchPool.Get().(*scratch)
	sc.team = new(team)
	return sc
}

// giveScratch ends the call. What the pool keeps must not hold on to the caller's
// arrays, as the team's last job does.
func giveScratch(sc *scratch) {
	sc.team.dismiss()
	sc.team = nil
	scratchPool.Put(sc)
}

// grown returns a slice of length n over the memory of s where that is large
// enough. Its contents are not cleared.
func grown[E any](s []E, n int) []E {
	if cap(s) < n {
		s = make([]E, n)
		adviseHuge(s)
	}
	return s[:n]
}
