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
	return sumOverLabels(grad, ev, &cfg, lossOfLabel[T])
}

// sumOverLabels checks what is common to all losses and returns the sum over
// the labels, each of which of sets the gradient of its events.
func sumOverLabels[T Float](grad []T, ev Events[T], cfg *Config,
	of func(grad []T, sel *selection[T], cfg *Config, sc *scratch) (float64, error)) (float64, error) {
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
	sc := takeScratch()
	defer giveScratch(sc)
	if ev.Label == nil { // all events are one
		return of(grad, newSelection(ev, nil, cfg), cfg, sc)
	}
	g := gatheredOf[T](sc)
	var total float64
	for _, label := range cfg.BackgroundLabel {
		if err := g.gather(ev, label, sc.team); err != nil {
			return 0, err
		}
		loss, err := of(g.gradient(grad), newSelection(g.events, g.index, cfg), cfg, sc)
		if err != nil {
			return 0, err
		}
		g.scatter(grad, sc.team)
		total += loss
	}
	return total, nil
}

func lossOfLabel[T Float](grad []T, sel *selection[T], cfg *Config, sc *scratch) (float64, error) {
	sw, cells, edges, err := newSweep(grad, sel, cfg, sc)
	if err != nil {
		return 0, err
	}
	if sw.basis, err = newBasis(edges, cfg.Order, cfg.Moments); err != nil {
		return 0, err
	}
	sw.scale = scaleOf(cfg, sw.nb)
	return sw.run(cells, edges, sc)
}

// newSweep returns the sweep of one label, still without basis and scale, with
// the starts of the cells of its records and the edges of the bins.
func newSweep[T Float](grad []T, sel *selection[T], cfg *Config, sc *scratch) (sw *sweep[T], cells []uint32, edges []float64, err error) {
	n := len(sel.Score)
	sel.makeCells(cfg)
	if err = sel.check(sc); err != nil {
		return nil, nil, nil, err
	}
	bn, err := newBinning(sel, cfg)
	if err != nil {
		return nil, nil, nil, err
	}
	sw = &sweep[T]{
		layout: newLayout[T](&sel.stats, n, bn.asked), input: &sel.Events, grad: grad, config: cfg,
		unit: unitOf(sel.weightMax), from: cfg.ScoreRange[0], to: cfg.ScoreRange[1],
	}
	if math.IsInf(sw.from, -1) {
		sw.from, sw.to = sel.scoreMin, sel.scoreMax
	}
	cells = fillRecords(sel, bn, &sw.layout, sc)
	sw.records = sc.records
	sw.nb = len(bn.edges) - 1
	return sw, cells, bn.edges, nil
}

func scaleOf(cfg *Config, nbins int) float64 {
	if cfg.Reduction == Sum {
		return 1
	}
	return 1 / float64(nbins)
}

// unitOf returns a power of two that brings weights near 1, where neither they
// nor their squares overflow. The loss does not depend on it, to the last bit.
func unitOf(weightMax float64) float64 {
	if weightMax == 0 {
		return 1
	}
	_, exponent := math.Frexp(weightMax)
	return math.Ldexp(1, min(max(-1022, -exponent), 1023))
}

// inverseSums returns 1/W_b. Sums are of weights in the given unit.
func inverseSums(edges, sums []float64, unit float64) ([]float64, error) {
	inverse := make([]float64, len(sums))
	for b, sum := range sums {
		inverse[b] = 1 / sum
		if sum == 0 {
			return nil, binError(edges, b, "has sum of weights 0: it is empty, or its weights cancel; "+
				"use fewer or wider bins, quantile bins or larger batches")
		}
		if !(sum > 0) || !finite(sum) || !finite(inverse[b]) {
			return nil, binError(edges, b, "has sum of weights %v, which must be positive and finite: "+
				"use fewer or wider bins, quantile bins or larger batches", sum/unit)
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
