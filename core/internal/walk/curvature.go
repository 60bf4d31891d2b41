package walk

import (
	"math"
	"sync"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// curvature writes h along the records of a walk in place of the gradient.
type curvature[T events.Float] struct {
	*walk[T]
	strips strips
	signs  int       // 2, of weights, or 1: there are none
	table  []float64 // per strip, sign and bin: h of an event of weight 1, but for the scale
}

// mostCurvedBins is how many bins there may be: the time grows with their square, and is a second or so at this number.
const mostCurvedBins = 4096

// newCurvature returns that of a J without bounds, which walks as the walk given does.
func newCurvature[T events.Float](wa *walk[T], li *linear, smoothing float64, sc *par.Scratch) (*curvature[T], error) {
	nb, n := wa.in.bins, len(wa.Words)
	if nb > mostCurvedBins {
		return nil, errs.Of(errs.ErrOption, "hess of %d bins is not computed, but of at most %d: use fewer bins", nb, mostCurvedBins)
	}
	cu := par.New(&sc.Arena, curvature[T]{walk: wa, signs: 1, strips: newStrips(wa.Records, min(max(n/(4*nb), 1), mostStrips))})
	if wa.Weights != nil {
		cu.signs = 2
	}
	half, err := halfWindow(wa.Records, wa.limits, smoothing)
	if err != nil {
		return nil, err
	}
	cu.table = par.Make[float64](&sc.Arena, len(cu.strips)*cu.signs*nb)
	if half == 0 {
		return cu, nil
	}
	densities := cu.strips.densities(cu.sums(sc), cu.signs*nb, half, wa.limits, &sc.Arena)
	sc.Team.Blocks(nb, rowsAtATime, func(lo, hi int) {
		row := make([]float64, 2*nb)
		for b := lo; b < hi; b++ {
			cu.setBin(b, li, densities, row[:nb], row[nb:])
		}
	})
	return cu, nil
}

// rowsAtATime is how many rows of M a goroutine takes at a time.
const rowsAtATime = 8

// sums returns the sums of |e| over the events of each strip, by sign and bin.
func (cu *curvature[T]) sums(sc *par.Scratch) []float64 {
	nb := cu.in.bins
	found := par.Make[float64](&sc.Arena, len(cu.table))
	sc.Team.Run(len(cu.strips), func(c int) {
		row := found[c*cu.signs*nb : (c+1)*cu.signs*nb]
		start := cu.strips.start(c)
		for i, r := range cu.Words[start:cu.strips[c].end] {
			b := cu.Bin(r)
			if cu.Weights == nil {
				row[b]++
			} else if w := cu.Weights[start+i]; w < 0 {
				row[nb+b] -= w
			} else {
				row[b] += w
			}
		}
		for k := range row {
			row[k] *= cu.in.unit[k%nb]
		}
	})
	return found
}

// setBin sets the table of bin b from the densities of all bins; bent and opposite are memory.
func (cu *curvature[T]) setBin(b int, li *linear, densities, bent, opposite []float64) {
	li.row(bent, b)
	for k, m := range bent {
		bent[k], opposite[k] = max(0, -m), max(0, m)
	}
	nb, factor := cu.in.bins, 4*cu.in.unit[b]
	for c := range cu.strips {
		f, to := densities[c*cu.signs*nb:(c+1)*cu.signs*nb], cu.table[c*cu.signs*nb:(c+1)*cu.signs*nb]
		to[b] = factor * floats.Dot(bent, f[:nb])
		if cu.signs == 2 {
			to[b] += factor * floats.Dot(opposite, f[nb:])
			to[nb+b] = factor * (floats.Dot(opposite, f[:nb]) + floats.Dot(bent, f[nb:]))
		}
	}
}

// curvatureRooms hold h of a block of events.
var curvatureRooms = sync.Pool{New: func() any { return new([blockSize]float64) }}

// walkChunk writes h of the events of chunk k.
func (cu *curvature[T]) walkChunk(k int) {
	room := curvatureRooms.Get().(*[blockSize]float64)
	defer curvatureRooms.Put(room)
	nb := cu.in.bins
	lo, hi := cu.Chunks[k], cu.Chunks[k+1]
	for c := cu.strips.of(lo); lo < hi; {
		next := min(hi, lo+blockSize, cu.strips[c].end)
		h, row := room[:next-lo], cu.table[c*cu.signs*nb:(c+1)*cu.signs*nb]
		for i, r := range cu.Words[lo:next] {
			b := cu.Bin(r)
			if cu.Weights == nil {
				h[i] = row[b]
				continue
			}
			w := cu.Weights[lo+i]
			if w < 0 {
				b += nb
			}
			h[i] = math.Abs(w) * row[b]
		}
		cu.write(lo, h, cu.in.scale)
		if lo = next; lo == cu.strips[c].end {
			c++
		}
	}
}
