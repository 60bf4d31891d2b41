package core

import (
	"math"
)

// Loss returns the MoDe loss of the events.
func Loss[T Float](ev Events[T], cfg Config) (float64, error) {
	return LossAndGrad(nil, ev, cfg)
}

// LossAndGrad returns the MoDe loss of the events and sets grad, of the length
// of ev.Score, to its derivatives with respect to the scores. Events that take
// no part get 0. With grad nil only the loss is computed. After an error the
// contents of grad mean nothing.
func LossAndGrad[T Float](grad []T, ev Events[T], cfg Config) (float64, error) {
	if err := cfg.Validate(); err != nil {
		return 0, err
	}
	if err := ev.checkLengths(); err != nil {
		return 0, err
	}
	if grad != nil && len(grad) != len(ev.Score) {
		return 0, errorOf(ErrLength, "grad has length %d, but score has length %d", len(grad), len(ev.Score))
	}
	clear(grad)
	sc := scratchPool.Get().(*scratch)
	defer scratchPool.Put(sc)
	var total float64
	for _, label := range labelsOf(&ev, &cfg) {
		loss, err := lossOfLabel(grad, newSelection(ev, label, &cfg), &cfg, sc)
		if err != nil {
			return 0, err
		}
		total += loss
	}
	return total, nil
}

// labelsOf returns the labels to go through. Without labels all events are one.
func labelsOf[T Float](ev *Events[T], cfg *Config) []int32 {
	if ev.Label == nil {
		return cfg.BackgroundLabel[:1]
	}
	return cfg.BackgroundLabel
}

func lossOfLabel[T Float](grad []T, sel *selection[T], cfg *Config, sc *scratch) (float64, error) {
	if err := sel.check(); err != nil {
		return 0, err
	}
	bs, err := makeBins(sel, cfg, sc)
	if err != nil {
		return 0, err
	}
	ba, err := newBasis(bs.edges, cfg.Order, cfg.Moments)
	if err != nil {
		return 0, err
	}
	la := newLayout(&sel.stats, len(sel.Score), bs.count())
	sums := fillRecords(sel, bs, &la, sc)
	inverse, err := inverseSums(bs.edges, sums)
	if err != nil {
		return 0, err
	}
	sw := &sweep[T]{
		layout: la, scores: sel.Score, grad: grad,
		basis: ba, config: cfg, scale: scaleOf(cfg, bs.count()), inverse: inverse,
		from: cfg.ScoreRange[0], to: cfg.ScoreRange[1],
	}
	if math.IsInf(sw.from, -1) {
		sw.from, sw.to = sel.scoreMin, sel.scoreMax
	}
	if cfg.Unbiased {
		sw.spread = newSpread(bs.edges)
	}
	sc.records, sc.spare = sortRecords(sc.records, sc.spare, &la, sel.Score, sc)
	sw.records = sc.records
	if sel.Weight != nil {
		sw.weights = sc.spare
		gatherWeights(sw.weights, sw.records, &la, sel.Weight)
	}
	return sw.run(sc)
}

func scaleOf(cfg *Config, nbins int) float64 {
	if cfg.Reduction == Sum {
		return 1
	}
	return 1 / float64(nbins)
}

// fillRecords sets sc.records to the records of the events that take part, in
// order of index, and returns the sum of weights of each bin.
func fillRecords[T Float](sel *selection[T], bs *bins, la *layout, sc *scratch) []float64 {
	nb := bs.count()
	sc.records = grown(sc.records, sel.n)
	sc.spare = grown(sc.spare, sel.n)
	size := max(blockSize, 16*nb)
	blocks := blocksOf(len(sel.Score), size)
	sc.totals = grown(sc.totals, blocks*nb)
	clear(sc.totals)
	starts := sel.blockStarts(size)
	parallel(blocks, func(k int) {
		lo, hi := block(k, size, len(sel.Score))
		out := sc.records[starts[k]:]
		sums := sc.totals[k*nb : (k+1)*nb]
		next := 0
		for i := lo; i < hi; i++ {
			if !sel.takesPart(i) {
				continue
			}
			b := bs.of(float64(sel.Mass[i]))
			out[next] = la.record(float64(sel.Score[i]), b, i)
			next++
			w := 1.0
			if sel.Weight != nil {
				w = float64(sel.Weight[i])
			}
			sums[b] += w
		}
	})
	sums := make([]float64, nb)
	for k, sum := range sc.totals {
		sums[k%nb] += sum
	}
	return sums
}

// blockStarts returns, for blocks of the given size, how many events take part
// before each.
func (sel *selection[T]) blockStarts(size int) []int {
	blocks := blocksOf(len(sel.Mass), size)
	starts := make([]int, blocks+1)
	if sel.n == len(sel.Mass) {
		for k := range starts {
			starts[k] = k * size
		}
		return starts
	}
	parallel(blocks, func(k int) {
		lo, hi := block(k, size, len(sel.Mass))
		for i := lo; i < hi; i++ {
			if sel.takesPart(i) {
				starts[k+1]++
			}
		}
	})
	for k := range blocks {
		starts[k+1] += starts[k]
	}
	return starts
}

// inverseSums returns 1/W_b.
func inverseSums(edges, sums []float64) ([]float64, error) {
	inverse := make([]float64, len(sums))
	for b, sum := range sums {
		inverse[b] = 1 / sum
		if !(sum > 0) || !finite(sum) || !finite(inverse[b]) {
			return nil, binError(edges, b, "has sum of weights %v, which must be positive and finite: "+
				"use fewer or wider bins, quantile bins or larger batches", sum)
		}
	}
	return inverse, nil
}

func binError(edges []float64, b int, format string, args ...any) error {
	closing := ")"
	if b == len(edges)-2 {
		closing = "]"
	}
	return errorOf(ErrBin, "bin %d of %d, mass in [%v, %v%s, "+format,
		append([]any{b, len(edges) - 1, edges[b], edges[b+1], closing}, args...)...)
}

// gatherWeights sets dst to the weights in order of the records.
func gatherWeights[T Float](dst, records []uint64, la *layout, weights []T) {
	blocks := blocksOf(len(records), blockSize)
	parallel(blocks, func(k int) {
		lo, hi := block(k, blockSize, len(records))
		for i := lo; i < hi; i++ {
			dst[i] = math.Float64bits(float64(weights[la.index(records[i])]))
		}
	})
}
