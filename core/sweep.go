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
// the end of the chunk before (chunks.go): rounding errors do not grow with the
// number of events, and chunks can be swept in any order, with the same bits as a
// result.
type sweep[T Float] struct {
	layout
	input    *Events[T]
	grad     []T // of the input's length; nil: not wanted
	config   *Config
	basis    *basis  // of the loss of flatness it is set once the sums are known
	nb       int     // number of bins
	scale    float64 // of the loss
	unit     float64 // weights are multiplied with it
	from, to float64 // limits of the integral

	records []uint64
	weights []float64 // in order of the records; nil: all 1
	results []uint64  // the gradient in order of the records, see unsort.go; nil: it is written at once
	groups  []group   // of cells that are sorted together
	chunks  []int     // chunk k holds the records chunks[k] .. chunks[k+1]-1, or none
	inverse []float64 // 1/W_b
	spread  *spread   // nil: the bias stays

	dominated []dominated // where chunks begin; nil: no bin is

	topFrom  int         // the first of the events of the highest score, if the integral ends there
	topShare float64     // what their gradients gain from that
	hot      *fastKernel // nil: kernels go the general way
	flat     bool        // the loss is that of flatness.go
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

// run sorts the records and returns the loss of one label, with its gradient.
// Cells are where fillRecords says they start.
func (sw *sweep[T]) run(cells []uint32, edges []float64, sc *scratch) (float64, error) {
	sw.divide(cells)
	sw.sortGroups(cells, sc)
	if err := sw.setSums(edges, sc); err != nil {
		return 0, err
	}
	integrals := make([]float64, len(sw.chunks)-1)
	if sw.unsorts() {
		// A result takes the place of its event's weight.
		sc.weights = grown(sc.weights, len(sw.records))
		sw.results = asWords(sc.weights)
	}
	last := sw.walkChunks(integrals, sc)
	total := last * (sw.to - sw.scoreAt(len(sw.records)-1))
	for _, integral := range integrals {
		total += integral
	}
	if !finite(total) {
		return 0, errorOf(ErrOverflow, "the loss is %v: scores, or weights relative to their sum in a bin, are too large for double precision", total)
	}
	if sw.results != nil {
		unsort(sw.grad, sw.results, sw.records, sc.team)
	}
	return sw.scale * total, nil
}

// walkChunks sweeps all chunks, sets their integrals and returns J above the
// highest score, which is that of the sums over all events.
func (sw *sweep[T]) walkChunks(integrals []float64, sc *scratch) (last float64) {
	if !sw.config.bounded() && sw.config.Order <= fastOrder && sw.dominated == nil && !onlyGeneralPaths {
		sw.hot = newFastKernel(sw.basis, sw.config.SlopePenalty)
	}
	walkers := pool(sw.newWalker)
	wk := walkers.take()
	sw.place(wk, len(integrals), sc)
	last = wk.start(wk.cdf, wk.squares)
	sw.setUpperEnd(last)
	walkers.give(wk)
	sc.team.parallel(len(integrals), func(k int) {
		lo, hi := sw.chunks[k], sw.chunks[k+1]
		if lo == hi {
			return
		}
		wk := walkers.take()
		wk.base = lo
		wk.out = grown(wk.out, hi-lo)
		if hi-lo > 1 && sw.endOfTie(lo, hi) == hi {
			integrals[k] = sw.walkTie(wk, k, sc)
		} else {
			sw.place(wk, k, sc)
			integrals[k] = sw.walk(wk, k)
		}
		sw.write(wk, k)
		walkers.give(wk)
	})
	return last
}

// place brings a walker to where chunk k begins.
func (sw *sweep[T]) place(wk *walker[T], k int, sc *scratch) {
	for b, inverse := range sw.inverse {
		wk.cdf[b] = sc.totals[k*sw.nb+b] * inverse
		switch {
		case sw.spread == nil:
		case sw.weights == nil:
			wk.squares[b] = wk.cdf[b] * inverse
		default:
			wk.squares[b] = sc.squares[k*sw.nb+b]
		}
	}
	if wk.of != nil {
		wk.of.set(&sw.dominated[k])
	}
}

// write takes over the gradient that a walk over chunk k has found.
func (sw *sweep[T]) write(wk *walker[T], k int) {
	lo, hi := sw.chunks[k], sw.chunks[k+1]
	switch {
	case sw.results != nil:
		results := sw.results[lo:hi]
		for i, r := range sw.records[lo:hi] {
			results[i] = result(sw.index(r), wk.out[i])
		}
	case sw.grad != nil:
		for i, r := range sw.records[lo:hi] {
			sw.grad[sw.index(r)] = wk.out[i]
		}
	}
}

func (sw *sweep[T]) weight(i int) float64 {
	if sw.weights == nil {
		return 1
	}
	return sw.weights[i]
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
	return float64(sw.input.Score[sw.index(sw.records[i])])
}

// tied reports whether the records i and j have equal scores.
func (sw *sweep[T]) tied(i, j int) bool {
	a, b := sw.records[i], sw.records[j]
	if sw.key(a) != sw.key(b) {
		return false
	}
	return sw.exact() || sw.input.Score[sw.index(a)] == sw.input.Score[sw.index(b)]
}

// endOfTie returns the end of the records from i on, and below hi, whose score
// is that of record i.
func (sw *sweep[T]) endOfTie(i, hi int) int {
	end := i + 1
	for end < hi && sw.key(sw.records[i]) == sw.key(sw.records[end]) && sw.tied(i, end) {
		end++
	}
	return end
}

// walker is the state of one goroutine.
type walker[T Float] struct {
	kernel
	out          []T // the gradient of the events of a chunk, in order of score
	base         int // the first of them
	cdf, squares []float64
	of           *dominated // nil: no bin is
	rows         []hotRow   // for fastKernel
	ups, downs   []float64  // of the events of a tie
}

func (sw *sweep[T]) newWalker() *walker[T] {
	wk := &walker[T]{cdf: make([]float64, sw.nb)}
	if sw.spread != nil {
		wk.squares = make([]float64, sw.nb)
		if sw.dominated != nil {
			wk.of = newDominated(sw.spread)
		}
	}
	if sw.config.bounded() {
		wk.kernel = newBoundedKernel(sw.config, sw.basis, sw.spread, wk.of)
	} else {
		wk.kernel = newLinearKernel(sw.config, sw.basis, sw.spread, wk.of)
	}
	if sw.hot != nil {
		wk.rows = make([]hotRow, sw.nb)
	}
	return wk
}

// onlyGeneralPaths is set by tests, which compare.
var onlyGeneralPaths bool

// walk sweeps chunk k, from where the walker was placed. It returns the integral of
// J from the score before the chunk to its last.
func (sw *sweep[T]) walk(wk *walker[T], k int) (integral float64) {
	if sw.hot != nil {
		return sw.fastWalk(wk, k)
	}
	st := walkState{j: wk.start(wk.cdf, wk.squares), score: sw.scoreBefore(k)}
	if bounded, ok := wk.kernel.(*boundedKernel); ok && bounded.rows != nil {
		return sw.boundedWalk(wk, bounded, st, k)
	}
	hi := sw.chunks[k+1]
	for i := sw.chunks[k]; i < hi; {
		end := sw.endOfTie(i, hi)
		st.advance(sw.scoreAt(i), sw.cross(wk, i, end))
		i = end
	}
	return st.integral
}

// walkTie is walk for a chunk whose events all have one score, however many: both
// sides of the score start from sums.
func (sw *sweep[T]) walkTie(wk *walker[T], k int, sc *scratch) (integral float64) {
	wk.ups = grown(wk.ups, len(wk.out))
	sw.place(wk, k, sc)
	j := sw.changes(wk, wk.ups, 1)
	downs := grown(wk.downs, len(wk.out))
	wk.downs = downs
	sw.place(wk, k+1, sc)
	sw.changes(wk, downs, -1)
	for i, down := range downs {
		sw.put(wk, wk.base+i, sw.scale*(down-wk.ups[i])/2)
	}
	return j * (sw.scoreAt(sw.chunks[k]) - sw.scoreBefore(k))
}

// changes sets dst to the changes of J by each event of a chunk, crossed upwards (sign
// 1) or downwards (-1) from where the walker was placed, and returns J there.
func (sw *sweep[T]) changes(wk *walker[T], dst []float64, sign float64) (j float64) {
	j = wk.start(wk.cdf, wk.squares)
	if sw.hot != nil {
		st := sw.hot.start(wk.rows, wk.cdf, sw.inverse, sw.weights != nil || sw.spread != nil)
		for i := range dst {
			dst[i] = sw.fastChange(wk, &st, wk.base+i, sign)
		}
		return j
	}
	for i := range dst {
		st := sw.step(wk.base + i)
		if sign < 0 {
			st = st.reversed()
		}
		dst[i] = wk.change(st)
	}
	return j
}

// scoreBefore returns the score from which the integral over chunk k runs.
func (sw *sweep[T]) scoreBefore(k int) float64 {
	if k == 0 {
		return sw.from
	}
	return sw.scoreAt(sw.chunks[k] - 1)
}

// cross crosses events of equal score, often one, and returns by how much J changes.
func (sw *sweep[T]) cross(wk *walker[T], lo, hi int) float64 {
	if hi > lo+1 {
		return sw.crossTie(wk, lo, hi)
	}
	d := wk.kernel.cross(sw.step(lo))
	sw.put(wk, lo, -sw.scale*d)
	return d
}

// walkState is J above the last score, and its integral so far.
type walkState struct{ j, integral, score float64 }

// advance goes on to a score where J changes by d.
func (st *walkState) advance(score, d float64) {
	st.integral += st.j * (score - st.score)
	st.score = score
	st.j += d
}

// crossTie crosses events of equal score and returns by how much J changes.
// The gradient of each is the mean of its left and right derivatives: for one
// that moves up, J above the tie loses the event; for one that moves down, J
// below the tie gains it. The first event crossed is one that moves up, the
// last, taken back, one that moves down.
func (sw *sweep[T]) crossTie(wk *walker[T], lo, hi int) (total float64) {
	wk.ups = grown(wk.ups, hi-lo)
	for i := lo + 1; i < hi; i++ {
		wk.ups[i-lo] = wk.change(sw.step(i))
	}
	var last float64
	for i := lo; i < hi; i++ {
		last = wk.cross(sw.step(i))
		if i == lo {
			wk.ups[0] = last
		}
		total += last
	}
	for i := lo; i < hi; i++ {
		down := -last
		if i < hi-1 {
			down = wk.change(sw.step(i).reversed())
		}
		sw.put(wk, i, sw.scale*(down-wk.ups[i-lo])/2)
	}
	return total
}

// setUpperEnd finds what the gradient of the highest score gains from the end of the
// integral, where that is the highest score and J above it is j. Of tied events only
// one that moves up takes the end along, hence half of it.
func (sw *sweep[T]) setUpperEnd(j float64) {
	sw.topFrom = len(sw.records)
	if !math.IsInf(sw.config.ScoreRange[1], 1) {
		return
	}
	top := len(sw.records) - 1
	first := top
	for first > 0 && sw.tied(first-1, top) {
		first--
	}
	sw.topFrom, sw.topShare = first, sw.scale*j
	if first < top {
		sw.topShare /= 2
	}
}

// put keeps the gradient of an event that is the last of its chunk, or tied.
func (sw *sweep[T]) put(wk *walker[T], i int, grad float64) {
	if i >= sw.topFrom {
		grad += sw.topShare
	}
	wk.out[i-wk.base] = T(grad)
}
