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
	found, err := evaluate(derivatives[T]{grad}, &ev, &cfg)
	return found.Loss, err
}

func evaluate[T Float](out derivatives[T], ev *Events[T], cfg *Config) (Result, error) {
	if ev, single := any(ev).(*Events[float32]); single {
		return ofFloat32(any(out).(derivatives[float32]), ev, cfg)
	}
	return ofFloat64(any(out).(derivatives[float64]), any(ev).(*Events[float64]), cfg)
}

// The loss of either type, compiled with this package. The compiler does not inline
// functions of internal/radix where it compiles the loss with a package that calls it,
// which then takes a third longer.
var (
	ofFloat32 = lossOfEvents[float32]
	ofFloat64 = lossOfEvents[float64]
)

func lossOfEvents[T Float](out derivatives[T], input *Events[T], given *Config) (Result, error) {
	if err := given.Validate(); err != nil {
		return Result{}, err
	}
	ev, rounded := *input, roundedTo[T](*given)
	cfg, of := &rounded, lossOf[T](massLoss[T])
	cfg.warn = once(cfg.warn)
	if err := ev.checkLengths(); err != nil {
		return Result{}, err
	}
	if err := out.checkLengths(len(ev.Score)); err != nil {
		return Result{}, err
	}
	sc := takeScratch()
	defer giveScratch(sc)
	sc.team.PartsFor(len(ev.Score)) // few events are left to this goroutine from the first
	out.clear(sc.team)
	if ev.Label == nil && ev.Category == nil {
		found, err := of(out, ev, nil, cfg, sc)
		return checked(found, err, out, sc.team)
	}
	di := divisionOf[T](sc)
	if err := di.divide(ev, cfg.BackgroundLabel, sc); err != nil {
		return Result{}, err
	}
	if err := di.setFactors(cfg); err != nil {
		return Result{}, err
	}
	total, err := di.sum(di.derivatives(out), cfg, of, sc)
	if err != nil {
		return Result{}, err
	}
	di.scatter(out, sc.team)
	return checked(total, nil, out, sc.team)
}

// checked returns what a loss has found, or an error, which may be that a derivative is beyond its type.
func checked[T Float](found Result, err error, out derivatives[T], team *par.Team) (Result, error) {
	if err == nil {
		err = out.check(team)
	}
	if err != nil {
		return Result{}, err
	}
	return found, nil
}

// lossOf is a loss of the events of one subset, whose derivatives it sets. index says
// where they stand in the input; nil: they are the input.
type lossOf[T Float] func(out derivatives[T], ev Events[T], index []uint32, cfg *Config, sc *scratch) (Result, error)

// ofOneVariable returns the loss that a configuration asks for where there is one mass: all but DisCo walk along the scores.
func ofOneVariable[T Float](cfg *Config) lossOf[T] {
	if cfg.Loss == DisCo {
		return discoOfLabel[T]
	}
	return binnedLoss[T]
}
