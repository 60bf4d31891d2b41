package core

import (
	"math"
	"sync"

	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// DefaultSmoothing is that of LossGradHess for boosted trees: a tree moves events by about as much.
const DefaultSmoothing = 1.0 / 16

// LossGradHess is LossAndGrad that sets hess, of the length of ev.Score, to a diagonal bound of the loss's curvature
// too, h_i >= 0 in units of the loss per score^2; grad, hess or both may be nil. Between the scores at which two events meet
// the loss is linear, and its curvature is that of these meetings:
//
//	v'Hv = -2 scale sum_{i<j} e_i e_j M_{b_i b_j} delta(s_i - s_j) (v_i - v_j)^2 <= sum_i h_i v_i^2
//	h_i  = 4 scale |e_i| sum_b [max(0, -sign(e_i) M_{b_i b}) f+_b(s_i) + max(0, sign(e_i) M_{b_i b}) f-_b(s_i)]
//
// with e_i = w_i/W_b, J = F'MF (linear.go), and the densities f+_b, f-_b at a score of the |e_i| of the events of bin b with
// positive and with negative weights; docs/curvature.md derives it. Densities are means over a window of smoothing
// times the width of ScoreRange around s_i, where that is unbounded times the range of the inner three quarters of the scores,
// and are told no finer than by 64 strips of equally many events. So h bounds moves of about that size; where all scores
// are equal and ScoreRange is unbounded it is 0. Events that take no part get 0.
//
// Unbiased, whose bias takes from the pairs of a bin what is O(1/n_b) of their curvature, and MaxSlope and Monotonic,
// for which there is no such bound, do not change h: it is that of the loss without them. DisCo and Flatness
// have none, and smoothing must be finite and above 0: errors that wrap ErrOption. It takes O(strips bins^2) more time.
func LossGradHess[T Float](grad, hess []T, ev Events[T], cfg Config, smoothing float64) (float64, error) {
	if err := cfg.Validate(); err != nil {
		return 0, err
	}
	switch {
	case cfg.Loss != MoDe:
		return 0, optionError("loss", lossNames[cfg.Loss], "has no bound on its curvature: it is of loss = %s alone", lossNames[MoDe])
	case !(smoothing > 0) || !finite(smoothing):
		return 0, errorOf(ErrOption, "smoothing = %v: must be finite and above 0", smoothing)
	}
	cfg.smoothing = smoothing
	found, err := evaluate(derivatives[T]{grad, hess}, &ev, &cfg)
	return found.Loss, err
}

// curvature writes h along the records of a walk in place of the gradient.
type curvature[T Float] struct {
	*walk[T]
	strips strips
	signs  int       // 2, of weights, or 1: there are none
	table  []float64 // per strip, sign and bin: h of an event of weight 1, but for the scale
}

// mostCurvedBins is how many bins there may be: the time grows with their square, and is a second or so at this number.
const mostCurvedBins = 4096

// newCurvature returns that of a J without bounds, which walks as the walk given does.
func newCurvature[T Float](wa *walk[T], li *linear, smoothing float64, sc *scratch) (*curvature[T], error) {
	nb, n := wa.in.bins, len(wa.words)
	if nb > mostCurvedBins {
		return nil, errorOf(ErrOption, "hess of %d bins is not computed, but of at most %d: use fewer bins", nb, mostCurvedBins)
	}
	cu := par.New(&sc.arena, curvature[T]{walk: wa, signs: 1, strips: newStrips(wa.records, min(max(n/(4*nb), 1), mostStrips))})
	if wa.weights != nil {
		cu.signs = 2
	}
	half, err := halfWindow(wa.records, wa.limits, smoothing)
	if err != nil {
		return nil, err
	}
	cu.table = par.Make[float64](&sc.arena, len(cu.strips)*cu.signs*nb)
	if half == 0 {
		return cu, nil
	}
	densities := cu.strips.densities(cu.sums(sc), cu.signs*nb, half, wa.limits, &sc.arena)
	sc.team.Blocks(nb, rowsAtATime, func(lo, hi int) {
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
func (cu *curvature[T]) sums(sc *scratch) []float64 {
	nb := cu.in.bins
	found := par.Make[float64](&sc.arena, len(cu.table))
	sc.team.Run(len(cu.strips), func(c int) {
		row := found[c*cu.signs*nb : (c+1)*cu.signs*nb]
		start := cu.strips.start(c)
		for i, r := range cu.words[start:cu.strips[c].end] {
			b := cu.Bin(r)
			if cu.weights == nil {
				row[b]++
			} else if w := cu.weights[start+i]; w < 0 {
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
	nb, scale := cu.in.bins, cu.in.scale
	lo, hi := cu.chunks[k], cu.chunks[k+1]
	for c := cu.strips.of(lo); lo < hi; {
		next := min(hi, lo+blockSize, cu.strips[c].end)
		h, row := room[:next-lo], cu.table[c*cu.signs*nb:(c+1)*cu.signs*nb]
		for i, r := range cu.words[lo:next] {
			b := cu.Bin(r)
			if cu.weights == nil {
				h[i] = scale * row[b]
				continue
			}
			w := cu.weights[lo+i]
			if w < 0 {
				b += nb
			}
			h[i] = scale * math.Abs(w) * row[b]
		}
		cu.write(lo, h)
		if lo = next; lo == cu.strips[c].end {
			c++
		}
	}
}
