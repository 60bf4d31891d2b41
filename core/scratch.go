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
	numbers []uint32    // of the subset of each event, see division.go
	counts  []uint32    // of masses and scores by cell
	parts   []part      // of the events, see selection.go
	cellsOf []uint32    // of each event, see selection.go
	divided [][]divided // by block, see bins.go
	records []uint64    // one for each event that takes part, see records.go
	weights []float64   // in order of the records, where there are weights or, in their place, results
	sums    sumMemory
	single  division[float32]
	double  division[float64]

	// With several variables:
	cellOf        []uint32 // of each event, see grid.go and nested.go
	cellAt, order []uint32 // see nested.go
	spareOrder    []uint32
	singleMasses  []float32
	doubleMasses  []float64
}

// sumMemory is that of the sums over the records before each chunk, see sums.go.
type sumMemory struct {
	totals  []float64 // sums of weights per chunk and bin
	squares []float64 // sums of squared steps per chunk and bin
	thirds  []float64 // sums of their third powers
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// takeScratch returns scratch for one call, with a team of its own.
func takeScratch() *scratch {
	sc := scratchPool.Get().(*scratch)
	sc.team = new(par.Team)
	return sc
}

// giveScratch ends the call. What the pool keeps must not hold on to the caller's
// arrays, as the team's last job and the objects of the arena do.
func giveScratch(sc *scratch) {
	sc.arena.Reset()
	sc.team.Dismiss()
	sc.team = nil
	scratchPool.Put(sc)
}
