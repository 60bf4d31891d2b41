// Package cliffs has events that could cost much more than others, and compares what they cost: their work is counted.
package cliffs

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/libmode/libmode/core"
)

// adversary is events that could cost much more than others of their number.
type adversary struct {
	name  string
	spoil func(ev *events, rng *rand.Rand) // changes independent scores, falling masses and positive weights
	open  bool                             // scores go past 0..1: the range of the integral is theirs
}

// events are those of a call, before they are rounded to a type.
type events = core.Events[float64]

// uniform is what all others are compared with.
const uniform = "uniform"

// each sets an array to what a function says of each event.
func each(to []float64, of func(i int) float64) {
	for i := range to {
		to[i] = of(i)
	}
}

// masses changes the masses of every variable.
func masses(of func(i, n int, rng *rand.Rand) float64) func(*events, *rand.Rand) {
	return func(ev *events, rng *rand.Rand) {
		for _, mass := range ev.Masses {
			each(mass, func(i int) float64 { return of(i, len(mass), rng) })
		}
	}
}

func scores(of func(i, n int, rng *rand.Rand) float64) func(*events, *rand.Rand) {
	return func(ev *events, rng *rand.Rand) {
		each(ev.Score, func(i int) float64 { return of(i, len(ev.Score), rng) })
	}
}

func weights(of func(i, n int, rng *rand.Rand) float64) func(*events, *rand.Rand) {
	return func(ev *events, rng *rand.Rand) {
		each(ev.Weight, func(i int) float64 { return of(i, len(ev.Weight), rng) })
	}
}

// mixed gives a part of the events a value, and the others another.
func mixed(part, value float64, other func(*rand.Rand) float64) func(i, n int, rng *rand.Rand) float64 {
	return func(_, _ int, rng *rand.Rand) float64 {
		if rng.Float64() < part {
			return value
		}
		return other(rng)
	}
}

// falling is a mass of a falling spectrum.
func falling(rng *rand.Rand) float64 { return 50 + 60*rng.ExpFloat64() }

// outlier gives one event a value, and all others another.
func outlier(value float64, other func(*rand.Rand) float64) func(i, n int, rng *rand.Rand) float64 {
	return func(i, n int, rng *rand.Rand) float64 {
		if i == n/3 {
			return value
		}
		return other(rng)
	}
}

// decades spreads over 10^lo .. 10^hi.
func decades(lo, hi float64) func(i, n int, rng *rand.Rand) float64 {
	return func(_, _ int, rng *rand.Rand) float64 { return math.Pow(10, lo+(hi-lo)*rng.Float64()) }
}

// adversaries are all of them, uniform first.
var adversaries = []adversary{
	{name: uniform, spoil: func(*events, *rand.Rand) {}},

	{name: "scores equal", spoil: scores(func(int, int, *rand.Rand) float64 { return 0.5 })},
	{name: "scores 0 or 1", spoil: scores(func(_, _ int, rng *rand.Rand) float64 { return float64(rng.IntN(2)) })},
	{name: "scores of 100 neighboring numbers", spoil: scores(func(_, _ int, rng *rand.Rand) float64 { return 0.5 + float64(rng.IntN(100))*0x1p-23 })},
	{name: "scores of 1000 steps", spoil: scores(func(_, _ int, rng *rand.Rand) float64 { return float64(rng.IntN(1001)) / 1000 })},
	{name: "scores of 4096 steps", spoil: scores(func(_, _ int, rng *rand.Rand) float64 { return float64(rng.IntN(4097)) / 4096 })},
	{name: "half of the scores 0", spoil: scores(func(_, _ int, rng *rand.Rand) float64 { return max(0, rng.Float64()-0.5) })},
	{name: "scores in two clusters", spoil: scores(func(_, _ int, rng *rand.Rand) float64 { return 0.1 + 0.8*float64(rng.IntN(2)) + 1e-5*rng.Float64() })},
	{name: "scores in 0.001", spoil: scores(func(_, _ int, rng *rand.Rand) float64 { return 0.5 + 0.001*rng.Float64() })},
	{name: "scores over 300 decades", spoil: scores(decades(-300, 0))},
	{name: "scores that are denormal", spoil: scores(func(_, _ int, rng *rand.Rand) float64 { return rng.Float64() * 1e-38 })},
	{name: "scores rising", spoil: func(ev *events, _ *rand.Rand) { slices.Sort(ev.Score) }},
	{name: "scores that are the sawtooth of the index", spoil: scores(func(i, _ int, _ *rand.Rand) float64 { return float64(i%1000) / 1000 })},
	{name: "scores open", open: true, spoil: scores(func(_, _ int, rng *rand.Rand) float64 { return rng.NormFloat64() })},
	{name: "scores open, one outlier", open: true, spoil: scores(outlier(1e30, (*rand.Rand).Float64))},
	{name: "scores open, 1 % at 1e30", open: true, spoil: scores(mixed(0.01, 1e30, (*rand.Rand).Float64))},
	{name: "scores open, over 60 decades of both signs", open: true, spoil: scores(func(i, n int, rng *rand.Rand) float64 {
		return math.Copysign(math.Pow(10, 60*rng.Float64()-30), rng.Float64()-0.5)
	})},
	{name: "scores open, equal but one", open: true, spoil: scores(outlier(1, func(*rand.Rand) float64 { return 0.25 }))},

	{name: "masses, 1 % at 1e9", spoil: masses(mixed(0.01, 1e9, falling))},
	{name: "masses, 60 % at 1e9", spoil: masses(mixed(0.6, 1e9, falling))},
	{name: "masses, 99 % at 91", spoil: masses(mixed(0.99, 91, falling))},
	{name: "masses, 1 % at -999", spoil: masses(mixed(0.01, -999, falling))},
	{name: "masses, one outlier", spoil: masses(outlier(1e30, (*rand.Rand).Float64))},
	{name: "masses in two clusters", spoil: masses(func(_, _ int, rng *rand.Rand) float64 { return float64(rng.IntN(2))*1e6 + rng.Float64() })},
	{name: "masses in two narrow clusters", spoil: masses(func(_, _ int, rng *rand.Rand) float64 { return 1 + float64(rng.IntN(2)) + 1e-4*rng.Float64() })},
	{name: "masses over 300 decades", spoil: masses(decades(-150, 150))},
	{name: "masses that are integers", spoil: masses(func(_, _ int, rng *rand.Rand) float64 { return float64(50 + rng.IntN(200)) })},
	{name: "masses of 3 values", spoil: masses(func(_, _ int, rng *rand.Rand) float64 { return float64(rng.IntN(3)) })},
	{name: "masses of 4000 steps", spoil: masses(func(_, _ int, rng *rand.Rand) float64 { return float64(rng.IntN(4000)) / 1000 })},
	{name: "masses rising", spoil: masses(func(i, n int, _ *rand.Rand) float64 { return float64(i) })},
	{name: "masses in 1e-6 of their value", spoil: masses(func(_, _ int, rng *rand.Rand) float64 { return 91 + 1e-4*rng.Float64() })},
	{name: "masses that are the scores", spoil: func(ev *events, _ *rand.Rand) {
		for _, mass := range ev.Masses {
			copy(mass, ev.Score)
		}
	}},

	{name: "weights, one in 10,000 of nearly all", spoil: weights(mixed(1e-4, 1e12, (*rand.Rand).ExpFloat64))},
	{name: "weights over 300 decades", spoil: weights(decades(-300, 0))},
}

// eventsOf are n events, as an adversary makes them, of so many variables.
func eventsOf(of adversary, n, variables int, weighted bool) events {
	rng := rand.New(rand.NewPCG(5, 6))
	ev := events{Score: make([]float64, n), Weight: make([]float64, n)}
	for range variables {
		ev.Masses = append(ev.Masses, make([]float64, n))
	}
	each(ev.Score, func(int) float64 { return rng.Float64() })
	for _, mass := range ev.Masses {
		each(mass, func(int) float64 { return falling(rng) })
	}
	each(ev.Weight, func(int) float64 { return rng.ExpFloat64() })
	of.spoil(&ev, rng)
	if variables == 1 {
		ev.Mass, ev.Masses = ev.Masses[0], nil
	}
	if !weighted {
		ev.Weight = nil
	}
	return ev
}

// rounded are the same events in a type.
func rounded[T core.Float](ev events) core.Events[T] {
	to := func(from []float64) []T {
		if from == nil {
			return nil
		}
		out := make([]T, len(from))
		for i, x := range from {
			out[i] = T(x)
		}
		return out
	}
	found := core.Events[T]{Score: to(ev.Score), Mass: to(ev.Mass), Weight: to(ev.Weight)}
	for _, mass := range ev.Masses {
		found.Masses = append(found.Masses, to(mass))
	}
	return found
}
