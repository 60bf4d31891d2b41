package core

import "github.com/libmode/libmode/core/internal/par"

// Loss returns the loss of the events.
func Loss[T Float](ev Events[T], cfg Config) (float64, error) {
	return LossAndGrad(nil, ev, cfg)
}

// LossAndGrad returns the loss of the events and sets grad, of the length of
// ev.Score, to its derivatives with respect to the scores. Events that take
// no part get 0. With grad nil only the loss is computed. After an error the
// contents of grad mean nothing.
func LossAndGrad[T Float](grad []T, ev Events[T], cfg Config) (float64, error) {
	if ev, single := any(&ev).(*Events[float32]); single {
		return ofFloat32(any(grad).([]float32), ev, &cfg)
	}
	return ofFloat64(any(grad).([]float64), any(&ev).(*Events[float64]), &cfg)
}

// The loss of either type, compiled with this package. The compiler does not inline
// functions of internal/radix where it compiles the loss with a package that calls it,
// which then takes a third longer.
var (
	ofFloat32 = lossAndGrad[float32]
	ofFloat64 = lossAndGrad[float64]
)

func lossAndGrad[T Float](grad []T, input *Events[T], given *Config) (float64, error) {
	if err := given.Validate(); err != nil {
		return 0, err
	}
	ev, rounded := *input, roundedTo[T](*given)
	cfg, of := &rounded, kindOf[T](given)
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
		return of(grad, ev, nil, cfg, sc)
	}
	g := gatheredOf[T](sc)
	if err := g.gather(ev, cfg.BackgroundLabel, sc.team); err != nil {
		return 0, err
	}
	total, err := sumOfLabels(g, g.gradient(grad), cfg, of, sc)
	if err != nil {
		return 0, err
	}
	g.scatter(grad, sc.team)
	return total, nil
}

// lossOf is a loss of events that have one label, whose gradient it sets. index says
// where they stand in the input; nil: they are the input.
type lossOf[T Float] func(grad []T, ev Events[T], index []uint32, cfg *Config, sc *scratch) (float64, error)

// kindOf returns the loss that a configuration asks for: all but DisCo walk along the scores.
func kindOf[T Float](cfg *Config) lossOf[T] {
	switch {
	case cfg.Loss == DisCo:
		return discoOfLabel[T]
	case cfg.Binning == Unbinned:
		return unbinnedLoss[T]
	}
	return binnedLoss[T]
}

// sumOfLabels returns the sum of the losses of the labels, each of which sets its part of the
// gradient. Many labels of few events, each not worth a second goroutine, are shared
// among goroutines.
func sumOfLabels[T Float](g *gathered[T], grad []T, cfg *Config, of lossOf[T], sc *scratch) (total float64, err error) {
	one := func(k int, sc *scratch) (float64, error) {
		ev, index := g.of(k)
		var part []T
		if grad != nil {
			part = grad[g.bounds[k]:g.bounds[k+1]]
		}
		return of(part, ev, index, cfg, sc)
	}
	labels := len(g.bounds) - 1
	if labels == 1 || len(g.index)/labels >= par.AloneCall {
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
	sc.team.PartsFor(len(g.index))
	sc.team.Run(labels, func(k int) {
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
