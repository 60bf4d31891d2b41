package core

import (
	"math"
)

// sweep is one pass over the records of one label in order of score. Between
// neighbouring scores the integrand J is constant, so that the integral is a
// finite sum; where a score is crossed one F_b jumps, and by how much J then
// changes is the gradient of the loss with respect to that score.
//
// The records are divided into chunks that start from sums of weights, not from
// the end of the chunk before: rounding errors do not grow with the number of
// events, and chunks can be swept in any order, with the same bits as a result.
type sweep[T Float] struct {
	layout
	records []uint64
	weights []uint64  // float64 bits of the weights in order of score; nil: all 1
	scores  []T       // of the input
	grad    []T       // of the input; nil: not wanted
	basis   *basis    //
	config  *Config   //
	scale   float64   // of the loss
	inverse []float64 // 1/W_b
	spread  *spread   // nil: the bias stays
	from    float64   // limits of the integral
	to      float64   //

	chunks []int // chunk k holds the records chunks[k] .. chunks[k+1]-1
}

// step is what crossing one event does to its bin: F_b grows by e and the sum
// of squared steps by square. Reversed, it takes the event out again.
type step struct {
	bin       int
	e, square float64
}

func (st step) reversed() step { return step{st.bin, -st.e, -st.square} }

// kernel follows c, c~ and J as events are crossed, with work per event that
// does not depend on the number of bins.
type kernel interface {
	// start moves to a point where the bins have these CDFs and sums of
	// squared steps, and returns J there.
	start(cdf, squares []float64) float64
	// change returns by how much J would change, and leaves everything as it is.
	change(step) float64
	// cross makes a step and returns by how much J has changed.
	cross(step) float64
}

// run returns the loss of one label and writes its gradient.
func (sw *sweep[T]) run(sc *scratch) (float64, error) {
	sw.divide()
	if err := sw.sumChunks(sc); err != nil {
		return 0, err
	}
	nb, chunks := len(sw.inverse), len(sw.chunks)-1
	integrals := make([]float64, chunks)
	last := 0.0
	kernels := make(chan *walker, max(Threads(), 1))
	parallel(chunks, func(k int) {
		var wk *walker
		select {
		case wk = <-kernels:
		default:
			wk = sw.newWalker()
		}
		for b := range nb {
			wk.cdf[b] = sc.totals[k*nb+b] * sw.inverse[b]
		}
		if sw.spread != nil {
			copy(wk.squares, sc.squares[k*nb:])
		}
		var j float64
		integrals[k], j = sw.walk(wk, k)
		if k == chunks-1 {
			last = j
		}
		select {
		case kernels <- wk:
		default:
		}
	})
	total := last * (sw.to - sw.scoreAt(len(sw.records)-1))
	for _, integral := range integrals {
		total += integral
	}
	if !finite(total) {
		return 0, errorOf(ErrOverflow, "the loss is %v: scores, or weights relative to their sum in a bin, are too large for double precision", total)
	}
	sw.moveUpperEnd(last)
	return sw.scale * total, nil
}

// divide sets the chunks, each of which starts with a new score.
func (sw *sweep[T]) divide() {
	size := max(1<<12, 16*len(sw.inverse))
	n := len(sw.records)
	sw.chunks = append(make([]int, 0, n/size+2), 0)
	for next := size; next < n; next += size {
		next = max(next, sw.chunks[len(sw.chunks)-1])
		for next < n && sw.tied(next-1, next) {
			next++
		}
		if next < n {
			sw.chunks = append(sw.chunks, next)
		}
	}
	sw.chunks = append(sw.chunks, n)
}

// sumChunks sets sc.totals and sc.squares, per chunk and bin, to the sums of
// the weights and of the squared steps of all records before the chunk.
func (sw *sweep[T]) sumChunks(sc *scratch) error {
	nb, chunks := len(sw.inverse), len(sw.chunks)-1
	sc.totals = grown(sc.totals, (chunks+1)*nb)
	totals := sc.totals
	clear(totals)
	var squares []float64
	if sw.spread != nil {
		sc.squares = grown(sc.squares, (chunks+1)*nb)
		squares = sc.squares
		clear(squares)
	}
	parallel(chunks, func(k int) {
		own := totals[(k+1)*nb : (k+2)*nb]
		for i := sw.chunks[k]; i < sw.chunks[k+1]; i++ {
			own[sw.bin(sw.records[i])] += sw.weight(i)
		}
		if squares == nil {
			return
		}
		own = squares[(k+1)*nb : (k+2)*nb]
		for i := sw.chunks[k]; i < sw.chunks[k+1]; i++ {
			st := sw.step(i)
			own[st.bin] += st.square
		}
	})
	for k := nb; k < len(totals); k++ {
		totals[k] += totals[k-nb]
	}
	for k := nb; k < len(squares); k++ {
		squares[k] += squares[k-nb]
	}
	if sw.spread != nil {
		return sw.spread.setTotals(squares[chunks*nb:])
	}
	return nil
}

func (sw *sweep[T]) weight(i int) float64 {
	if sw.weights == nil {
		return 1
	}
	return math.Float64frombits(sw.weights[i])
}

func (sw *sweep[T]) step(i int) step {
	b := sw.bin(sw.records[i])
	e := sw.weight(i) * sw.inverse[b]
	return step{b, e, e * e}
}

func (sw *sweep[T]) scoreAt(i int) float64 {
	if sw.exact() {
		return sw.score(sw.records[i])
	}
	return float64(sw.scores[sw.index(sw.records[i])])
}

// tied reports whether the records i and j have equal scores.
func (sw *sweep[T]) tied(i, j int) bool {
	a, b := sw.records[i], sw.records[j]
	if sw.key(a) != sw.key(b) {
		return false
	}
	return sw.exact() || sw.scores[sw.index(a)] == sw.scores[sw.index(b)]
}

// walker is the state of one goroutine.
type walker struct {
	kernel
	cdf, squares []float64
	ups          []float64 // of the events of a tie
}

func (sw *sweep[T]) newWalker() *walker {
	wk := &walker{cdf: make([]float64, len(sw.inverse))}
	if sw.spread != nil {
		wk.squares = make([]float64, len(sw.inverse))
	}
	if sw.config.bounded() {
		wk.kernel = newBoundedKernel(sw.config, sw.basis, sw.spread)
	} else {
		wk.kernel = newLinearKernel(sw.config, sw.basis, sw.spread)
	}
	return wk
}

// walk sweeps chunk k. It returns the integral of J from the score before the
// chunk to its last, and J above that.
func (sw *sweep[T]) walk(wk *walker, k int) (integral, j float64) {
	lo, hi := sw.chunks[k], sw.chunks[k+1]
	score := sw.from
	if lo > 0 {
		score = sw.scoreAt(lo - 1)
	}
	j = wk.start(wk.cdf, wk.squares)
	for i := lo; i < hi; {
		next := sw.scoreAt(i)
		integral += j * (next - score)
		score = next
		end := i + 1
		for end < hi && sw.tied(i, end) {
			end++
		}
		if end == i+1 {
			d := wk.cross(sw.step(i))
			j += d
			if sw.grad != nil {
				sw.grad[sw.index(sw.records[i])] = T(-sw.scale * d)
			}
		} else {
			j += sw.crossTie(wk, i, end)
		}
		i = end
	}
	return integral, j
}

// crossTie crosses events of equal score and returns by how much J changes.
// The gradient of each is the mean of its left and right derivatives: for one
// that moves up, J above the tie loses the event; for one that moves down, J
// below the tie gains it.
func (sw *sweep[T]) crossTie(wk *walker, lo, hi int) float64 {
	if sw.grad != nil {
		wk.ups = grown(wk.ups, hi-lo)
		for i := lo; i < hi; i++ {
			wk.ups[i-lo] = wk.change(sw.step(i))
		}
	}
	var total float64
	for i := lo; i < hi; i++ {
		total += wk.cross(sw.step(i))
	}
	if sw.grad != nil {
		for i := lo; i < hi; i++ {
			down := wk.change(sw.step(i).reversed())
			sw.grad[sw.index(sw.records[i])] = T(sw.scale * (down - wk.ups[i-lo]) / 2)
		}
	}
	return total
}

// moveUpperEnd adds to the gradient of the highest score what comes from the
// end of the integral, where that is the highest score. Of tied events only
// one that moves up takes the end along, hence half of it.
func (sw *sweep[T]) moveUpperEnd(j float64) {
	if sw.grad == nil || !math.IsInf(sw.config.ScoreRange[1], 1) {
		return
	}
	top := len(sw.records) - 1
	first := top
	for first > 0 && sw.tied(first-1, top) {
		first--
	}
	share := sw.scale * j
	if first < top {
		share /= 2
	}
	for i := first; i <= top; i++ {
		sw.grad[sw.index(sw.records[i])] += T(share)
	}
}
