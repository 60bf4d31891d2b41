package core

import (
	"math"
	"slices"
)

// Loss returns the loss of the events.
func Loss[T Float](ev Events[T], cfg Config) (float64, error) {
	return LossAndGrad(nil, ev, cfg)
}

// LossAndGrad returns the loss of the events and sets grad, of the length of
// ev.Score, to its derivatives with respect to the scores. Events that take
// no part get 0. With grad nil only the loss is computed. After an error the
// contents of grad mean nothing.
func LossAndGrad[T Float](grad []T, ev Events[T], given Config) (float64, error) {
	if err := given.Validate(); err != nil {
		return 0, err
	}
	rounded := roundedTo[T](given)
	cfg, of := &rounded, kindOf[T](given.Loss)
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
	if err := g.gather(ev, cfg.BackgroundLabel, sc.team); err != nil {
		return 0, err
	}
	total, err := g.sum(g.gradient(grad), cfg, of, sc)
	if err != nil {
		return 0, err
	}
	g.scatter(grad, sc.team)
	return total, nil
}

// lossOf is a loss of the selected events, whose gradient it sets.
type lossOf[T Float] func(grad []T, sel *selection[T], cfg *Config, sc *scratch) (float64, error)

func kindOf[T Float](kind LossKind) lossOf[T] {
	return [...]lossOf[T]{MoDe: modeOfLabel[T], DisCo: discoOfLabel[T], Flatness: flatnessOfLabel[T]}[kind]
}

// sum returns the sum of the losses of the labels, each of which sets its part of the
// gradient. Many labels of few events, each not worth a second goroutine, are shared
// among goroutines.
func (g *gathered[T]) sum(grad []T, cfg *Config, of lossOf[T], sc *scratch) (total float64, err error) {
	one := func(k int, sc *scratch) (float64, error) {
		ev, index := g.of(k)
		var part []T
		if grad != nil {
			part = grad[g.bounds[k]:g.bounds[k+1]]
		}
		return of(part, newSelection(ev, index, cfg), cfg, sc)
	}
	labels := len(g.bounds) - 1
	if labels == 1 || len(g.index)/labels >= aloneCall {
		for k := range labels {
			loss, err := one(k, sc)
			if err != nil {
				return 0, ofLabel(cfg, k, err)
			}
			total += loss
		}
		return total, nil
	}
	losses, failed := make([]float64, labels), make([]error, labels)
	sc.team.partsFor(len(g.index))
	sc.team.parallel(labels, func(k int) {
		own := takeScratch()
		defer giveScratch(own)
		losses[k], failed[k] = one(k, own)
	})
	for k, loss := range losses {
		if failed[k] != nil {
			return 0, ofLabel(cfg, k, failed[k])
		}
		total += loss
	}
	return total, nil
}

// ofLabel says which label an error is about, where there are several.
func ofLabel(cfg *Config, k int, err error) error {
	if len(cfg.BackgroundLabel) == 1 {
		return err
	}
	return errorOf(err, "events with background_label = %d: %v", cfg.BackgroundLabel[k], err)
}

func modeOfLabel[T Float](grad []T, sel *selection[T], cfg *Config, sc *scratch) (float64, error) {
	sw, cells, bins, err := newSweep(grad, sel, cfg, sc)
	if err != nil {
		return 0, err
	}
	if sw.basis, err = newBasis(bins.edges, cfg, bins.means); err != nil {
		return 0, err
	}
	sw.scale = scaleOf(cfg, sw.nb)
	return sw.run(cells, bins.edges, sc)
}

// finalBins are the bins that the loss uses.
type finalBins struct {
	edges []float64
	means []twofold // mean polynomials, a row a bin; nil where the moments need none
}

// newSweep returns the sweep of one label, still without basis and scale, with
// the starts of the cells of its records and its bins.
func newSweep[T Float](grad []T, sel *selection[T], cfg *Config, sc *scratch) (sw *sweep[T], cells []uint32, bins finalBins, err error) {
	n := len(sel.Score)
	sel.makeCells(cfg)
	if err = sel.check(sc); err != nil {
		return nil, nil, bins, err
	}
	bn, err := newBinning(sel, cfg)
	if err != nil {
		return nil, nil, bins, err
	}
	sw = &sweep[T]{
		layout: newLayout[T](&sel.stats, n, bn.asked), input: &sel.Events, grad: grad, config: cfg,
		unit: sel.unit(), from: cfg.ScoreRange[0], to: cfg.ScoreRange[1],
	}
	if math.IsInf(sw.from, -1) {
		sw.from, sw.to = sel.scoreMin, sel.scoreMax
	}
	cells = fillRecords(sel, bn, &sw.layout, sc)
	merge := func(to []int) { mergeRecords(sc.records, to, &sw.layout, sc.team) }
	bins, err = settleBins(sel, cfg, bn.edges, sw.unit, func(dst []uint32, lo int) { placedBins(dst, bn, sel, lo) }, merge, sc.team)
	if err != nil {
		return nil, nil, bins, err
	}
	sw.records = sc.records
	sw.nb = len(bins.edges) - 1
	return sw, cells, bins, nil
}

// settleBins merges bins that have too few events, where their number was not asked
// for, and finds the mean polynomials that moments are made of. It takes the edges
// so far and the bins of events, and calls merge if bins are merged.
func settleBins[T Float](sel *selection[T], cfg *Config, edges []float64, unit float64, of binsOf, merge func(to []int), tm *team) (finalBins, error) {
	bins := finalBins{edges: edges}
	merges := cfg.merges() && (sel.Weight != nil || cfg.Binning == Uniform)
	order := 0
	if cfg.Moments == Projection {
		order = cfg.Order
	}
	if merges || order > 0 {
		sums := sumBins(sel, len(edges)-1, order, unit, of, tm)
		if merges {
			if to := sums.merging(enoughEvents); to[len(to)-1] < len(to)-1 {
				sums.merge(to)
				bins.edges = mergedEdges(edges, to)
				merge(to)
			}
		}
		if err := sums.check(bins.edges, unit); err != nil {
			return bins, err
		}
		bins.means = sums.means()
	} else if cfg.Moments == Projection {
		bins.means = slices.Repeat([]twofold{{hi: 1}}, len(edges)-1)
	}
	if nb := len(bins.edges) - 1; cfg.merges() && nb < cfg.Order+2 {
		return bins, errorOf(ErrNoEvents, "too few events, or too few that differ in mass: %d selected events make %d bins, "+
			"and a response of order = %d needs more than %d to be seen in: use larger batches, a lower order, or give bins or edges",
			sel.n, nb, cfg.Order, cfg.Order+1)
	}
	return bins, nil
}

func scaleOf(cfg *Config, nbins int) float64 {
	if cfg.Reduction == Sum {
		return 1
	}
	return 1 / float64(nbins)
}

// inverseSums returns 1/W_b. Sums are of weights in the given unit.
func inverseSums(edges, sums []float64, unit float64) ([]float64, error) {
	inverse := make([]float64, len(sums))
	for b, sum := range sums {
		inverse[b] = 1 / sum
		if err := checkSum(edges, b, sum, unit); err != nil {
			return nil, err
		}
	}
	return inverse, nil
}

// checkSum returns an error where no CDF can be made with a bin's sum of weights.
func checkSum(edges []float64, b int, sum, unit float64) error {
	if sum == 0 {
		return binError(edges, b, "has sum of weights 0: it is empty, or its weights cancel; "+
			"use fewer or wider bins, quantile bins or larger batches")
	}
	if !(sum > 0) || !finite(sum) || !finite(1/sum) {
		return binError(edges, b, "has sum of weights %v, which must be positive and finite: "+
			"use fewer or wider bins, quantile bins or larger batches", sum/unit)
	}
	return nil
}

func binError(edges []float64, b int, format string, args ...any) error {
	closing := ")"
	if b == len(edges)-2 {
		closing = "]"
	}
	return errorOf(ErrBin, "bin %d of %d, mass in [%v, %v%s, "+format,
		append([]any{b, len(edges) - 1, edges[b], edges[b+1], closing}, args...)...)
}
