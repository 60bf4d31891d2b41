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
	input    *Events[T]
	grad     []T // of the input's length; nil: not wanted
	config   *Config
	basis    *basis  // of the loss of flatness it is set once the sums are known
	nb       int     // number of bins
	scale    float64 // of the loss
	unit     float64 // weights are multiplied with it
	from, to float64 // limits of the integral

	records []uint64
	weights []float64   // in order of the records; nil: all 1
	results []uint64    // the gradient in order of the records, see unsort.go; nil: it is written at once
	chunks  []int       // chunk k holds the records chunks[k] .. chunks[k+1]-1
	cells   []int       // and the cells cells[k] .. cells[k+1]-1
	inverse []float64   // 1/W_b
	spread  *spread     // nil: the bias stays
	hot     *fastKernel // nil: kernels go the general way
	flat    bool        // the loss is that of flatness.go
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
	sw.sortChunks(cells, sc)
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
	sw.moveUpperEnd(last)
	return sw.scale * total, nil
}

// divide makes chunks of whole cells, large enough that what a chunk costs
// whatever its size does not matter.
func (sw *sweep[T]) divide(cells []uint32) {
	size := max(1<<12, 64*sw.nb)
	sw.chunks = append(sw.chunks, 0)
	sw.cells = append(sw.cells, 0)
	for c, end := range cells[1:] {
		if int(end)-sw.chunks[len(sw.chunks)-1] >= size || c == len(cells)-2 {
			sw.chunks = append(sw.chunks, int(end))
			sw.cells = append(sw.cells, c+1)
		}
	}
}

// sortChunks sorts the records of each chunk by score, brings weights into
// the same order, and sums by chunk and bin the weights and their squares.
func (sw *sweep[T]) sortChunks(cells []uint32, sc *scratch) {
	chunks := len(sw.chunks) - 1
	sc.totals = grown(sc.totals, (chunks+1)*sw.nb)
	clear(sc.totals)
	if sw.input.Weight != nil {
		sc.weights = grown(sc.weights, len(sw.records))
		sw.weights = sc.weights
		if sw.config.Unbiased {
			sc.squares = grown(sc.squares, (chunks+1)*sw.nb)
			clear(sc.squares)
		}
	}
	sc.team.parallel(chunks, func(k int) {
		so := sorters.Get().(*sorter)
		sortCells(so, sw.records, cells[sw.cells[k]:sw.cells[k+1]+1], &sw.layout, sw.input.Score)
		sorters.Put(so)
		lo, hi := sw.chunks[k], sw.chunks[k+1]
		totals := sc.totals[(k+1)*sw.nb : (k+2)*sw.nb]
		if sw.weights == nil {
			for _, r := range sw.records[lo:hi] {
				totals[sw.bin(r)]++
			}
			return
		}
		for i, r := range sw.records[lo:hi] {
			w := float64(sw.input.Weight[sw.index(r)]) * sw.unit
			sw.weights[lo+i] = w
			totals[sw.bin(r)] += w
			if sw.config.Unbiased {
				sc.squares[(k+1)*sw.nb+sw.bin(r)] += w * w
			}
		}
	})
}

// setSums turns sums of chunks into sums over all that comes before a chunk,
// and sets what follows from the sums over everything.
func (sw *sweep[T]) setSums(edges []float64, sc *scratch) error {
	for k := sw.nb; k < len(sc.totals); k++ {
		sc.totals[k] += sc.totals[k-sw.nb]
	}
	all := (len(sw.chunks) - 1) * sw.nb
	var err error
	if sw.inverse, err = inverseSums(edges, sc.totals[all:], sw.unit); err != nil {
		return err
	}
	if sw.flat {
		sw.setFlat(sc.totals[all:])
	}
	if !sw.config.Unbiased {
		return nil
	}
	sw.spread = newSpread(edges)
	if sw.weights == nil {
		return sw.spread.setTotals(sw.inverse) // n steps of 1/n each
	}
	for k := sw.nb; k < all+sw.nb; k++ {
		sc.squares[k] += sc.squares[k-sw.nb]
	}
	totals := make([]float64, sw.nb)
	for b, inverse := range sw.inverse {
		totals[b] = sc.squares[all+b] * inverse * inverse
	}
	return sw.spread.setTotals(totals)
}

// walkChunks sweeps all chunks, sets their integrals and returns J above the
// highest score.
func (sw *sweep[T]) walkChunks(integrals []float64, sc *scratch) (last float64) {
	if !sw.config.bounded() && sw.config.Order <= fastOrder && !onlyGeneralPaths {
		sw.hot = newFastKernel(sw.basis, sw.config.SlopePenalty)
	}
	walkers := pool(sw.newWalker)
	sc.team.parallel(len(integrals), func(k int) {
		wk := walkers.take()
		sw.place(wk, k, sc)
		var j float64
		integrals[k], j = sw.walk(wk, k)
		if k == len(integrals)-1 {
			last = j
		}
		sw.write(wk, k)
		walkers.give(wk)
	})
	return last
}

// place brings a walker to the beginning of chunk k.
func (sw *sweep[T]) place(wk *walker[T], k int, sc *scratch) {
	for b, inverse := range sw.inverse {
		wk.cdf[b] = sc.totals[k*sw.nb+b] * inverse
		switch {
		case sw.spread == nil:
		case sw.weights == nil:
			wk.squares[b] = wk.cdf[b] * inverse
		default:
			wk.squares[b] = sc.squares[k*sw.nb+b] * inverse * inverse
		}
	}
	wk.base = sw.chunks[k]
	wk.out = grown(wk.out, sw.chunks[k+1]-wk.base)
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
	rows         []hotRow  // for fastKernel
	ups          []float64 // of the events of a tie
}

func (sw *sweep[T]) newWalker() *walker[T] {
	wk := &walker[T]{cdf: make([]float64, sw.nb)}
	if sw.spread != nil {
		wk.squares = make([]float64, sw.nb)
	}
	if sw.config.bounded() {
		wk.kernel = newBoundedKernel(sw.config, sw.basis, sw.spread)
	} else {
		wk.kernel = newLinearKernel(sw.config, sw.basis, sw.spread)
	}
	if sw.hot != nil {
		wk.rows = make([]hotRow, sw.nb)
	}
	return wk
}

// onlyGeneralPaths is set by tests, which compare.
var onlyGeneralPaths bool

// walk sweeps chunk k. It returns the integral of J from the score before the
// chunk to its last, and J above that.
func (sw *sweep[T]) walk(wk *walker[T], k int) (integral, j float64) {
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
	return st.integral, st.j
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
	wk.out[lo-wk.base] = T(-sw.scale * d)
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
		wk.out[i-wk.base] = T(sw.scale * (down - wk.ups[i-lo]) / 2)
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
