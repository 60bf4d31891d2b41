package core

import (
	"sync"

	"github.com/libmode/libmode/core/internal/par"
)

// scratch is the memory of one call, kept between calls. It belongs to one call
// at a time.
type scratch struct {
	team    *par.Team
	arena   par.Arena
	counts  []uint32    // of masses and scores by cell
	cellsOf []uint32    // of each event, see selection.go
	divided [][]divided // by block, see bins.go
	records []uint64    // one for each event that takes part, see records.go
	weights []float64   // in order of the records, where there are weights or, in their place, results
	masses  []float64   // in order of the records, of the loss without bins
	totals  []float64   // sums of weights per chunk and bin, or what spectrum.sums adds up
	squares []float64   // sums of squared steps per chunk and bin
	powers  []powers    // of the steps of each bin
	single  gathered[float32]
	double  gathered[float64]
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// takeScratch returns scratch for one call, with a team of its own.
func takeScratch() *scratch {
	sc := scratchPool.Get().(*scratch)
	sc.team = new(par.Team)
	sc.arena.Reset()
	return sc
}

// giveScratch ends the call. What the pool keeps must not hold on to the caller's
// arrays, as the team's last job does.
func giveScratch(sc *scratch) {
	sc.team.Dismiss()
	sc.team = nil
	scratchPool.Put(sc)
}
