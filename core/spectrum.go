package core

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// spectrum has the masses of events in order of score, as x in [-1, 1], and their shares of the sum of weights.
type spectrum struct {
	x, u   []float64 // u nil: all shares are 1/n
	chunks []int     // those of the records
	degree int       // of the highest polynomial
}

// newSpectrum returns the spectrum of sorted records, whose weights have this sum, and become shares of it.
func newSpectrum[T Float](rs *records[T], sel *selection[T], sum float64, degree int, sc *scratch) *spectrum {
	sc.masses = par.Grown(sc.masses, len(rs.words))
	sp := &spectrum{x: sc.masses, u: rs.weights, chunks: rs.chunks, degree: degree}
	span, layout := spanOf(sel), rs.Layout
	sc.team.Run(len(rs.chunks)-1, func(k int) {
		lo, hi := rs.chunks[k], rs.chunks[k+1]
		x, masses := sp.x[lo:hi], sel.Mass
		for i, r := range rs.words[lo:hi] { // in a loop of its own, as in addChunk
			x[i] = float64(masses[layout.Index(r)])
		}
		for i, m := range x {
			x[i] = span.x(m)
		}
		if sp.u != nil {
			u := sp.u[lo:hi]
			floats.Scale(1/sum, u)
			for i := range u {
				if u[i] == 0 {
					x[i] = 0 // it changes nothing, wherever its mass is, which may be far outside
				}
			}
		}
	})
	return sp
}

// massSpan maps masses onto x. unit, a power of two, is for spans so narrow that their inverse would overflow.
type massSpan struct{ lo, unit, factor float64 }

func (sp massSpan) x(m float64) float64 { return float64((m-sp.lo)*sp.unit*sp.factor) - 1 }

// newSpan returns the map that takes lo to -1 and hi to 1.
func newSpan(lo, hi float64) massSpan {
	unit := unitOf(hi - lo)
	return massSpan{lo, unit, 2 / ((hi - lo) * unit)}
}

// spanOf returns that of the masses of the events with a weight.
func spanOf[T Float](sel *selection[T]) massSpan {
	if sel.Weight == nil || sel.weightMin > 0 {
		return newSpan(sel.massMin, sel.massMax)
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, w := range sel.Weight {
		if m := float64(sel.Mass[i]); w > 0 && sel.takesPart(i) {
			lo, hi = min(lo, m), max(hi, m)
		}
	}
	return newSpan(lo, hi)
}

// load sets columns to the events lo..hi-1.
func (sp *spectrum) load(c *polynomialBlock, lo, hi int) {
	c.reserve(hi-lo, sp.degree)
	c.x = sp.x[lo:hi]
	var u []float64
	if sp.u != nil {
		u = sp.u[lo:hi]
	}
	c.setShares(u, 1/float64(len(sp.x)))
}

// sums adds up over the events, as a measure does, and returns a row of sums for each chunk, over the events
// before it, and one more over all events. The next call overwrites them.
func (sp *spectrum) sums(rec *recurrence, degree, size int, add adder, sc *scratch) []float64 {
	chunks := len(sp.chunks) - 1
	memory := &sc.sums
	memory.totals = par.Grown(memory.totals, (chunks+1)*size)
	rows := memory.totals
	clear(rows)
	sc.team.Run(chunks, func(k int) {
		c := polynomialBlocks.Get().(*polynomialBlock)
		defer polynomialBlocks.Put(c)
		for lo := sp.chunks[k]; lo < sp.chunks[k+1]; lo += columnBlock {
			sp.load(c, lo, min(lo+columnBlock, sp.chunks[k+1]))
			rec.evaluate(c, degree)
			add(c, rows[(k+1)*size:(k+2)*size])
		}
	})
	runningSums(rows, size)
	return rows
}

// all is the measure of all events.
func (sp *spectrum) all(sc *scratch) measure {
	return func(rec *recurrence, degree, size int, add adder) []float64 {
		rows := sp.sums(rec, degree, size, add, sc)
		return slices.Clone(rows[len(rows)-size:])
	}
}

// sampleSize is a number of events whose polynomials are nearly those of many more.
const sampleSize = 1 << 10

// sample is the measure of sampleSize events and of one event at each end of the masses, or of all events where
// there are no more than that, which it keeps in these columns.
func (sp *spectrum) sample(c *polynomialBlock) measure {
	if n := len(sp.x); n <= sampleSize {
		sp.load(c, 0, n)
	} else {
		c.reserve(sampleSize+2, sp.degree)
		c.equal = 0
		c.x = make([]float64, sampleSize+2)
		for k := range sampleSize {
			i := k * (n / sampleSize)
			c.x[k], c.u[k] = sp.x[i], 1
			if sp.u != nil {
				c.u[k] = sp.u[i]
			}
		}
		some := c.u[:sampleSize]
		floats.Scale(1/floats.Sum(some), some)
		c.x[sampleSize], c.x[sampleSize+1] = -1, 1
		fill(c.u[sampleSize:], 1/float64(n))
		floats.Scale(1/floats.Sum(c.u), c.u)
	}
	return func(rec *recurrence, degree, size int, add adder) []float64 {
		rec.evaluate(c, degree)
		sums := make([]float64, size)
		add(c, sums)
		return sums
	}
}

// sampled returns the polynomials of a sample of many events, corrected once, and of few events those of all. It
// is not ok where there are none.
func (sp *spectrum) sampled(sc *scratch) (rec *recurrence, ok bool) {
	c := polynomialBlocks.Get().(*polynomialBlock)
	defer polynomialBlocks.Put(c)
	rec, found := newRecurrence(sp.degree, sp.sample(c))
	if found <= sp.degree || len(sp.x) <= sampleSize {
		return rec, found > sp.degree
	}
	sums := sp.all(sc)(rec, sp.degree, triangle(sp.degree+1, 0), addOverlaps)
	return rec, newGram(sp.degree, sums).correct(rec)
}
