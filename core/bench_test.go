package core

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchSets draws sets of n events: independent scores, masses that fall exponentially, and, if wanted,
// weights and labels, half of them background. There are so many sets that no branch predictor learns
// their events by heart, as it learns a few thousand, and at most 2^24 events in all.
func benchSets[T Float](n int, weighted, labelled bool) []Events[T] {
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	sets := make([]Events[T], max(1, min(max(8, 1<<18/n), 1<<24/n)))
	for k := range sets {
		ev := Events[T]{Score: make([]T, n), Mass: make([]T, n)}
		if weighted {
			ev.Weight = make([]T, n)
		}
		var label []int32
		if labelled {
			label = make([]int32, n)
		}
		for i := range n {
			ev.Score[i], ev.Mass[i] = T(rng.Float64()), T(50+60*rng.ExpFloat64())
			if weighted {
				ev.Weight[i] = T(rng.ExpFloat64())
			}
			if labelled {
				label[i] = rng.Int32N(2)
			}
		}
		ev.Label = LabelsOf(label)
		sets[k] = ev
	}
	return sets
}

var benchSizes = []int{100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000}

// benchCase is what a benchmark has other than order 2 of the paper's formula. Each call has the next set of events.
type benchCase[T Float] struct {
	weighted, labelled bool
	variables          int // protected ones; 0: one
	change             func(*Config)
}

func (bc benchCase[T]) run(b *testing.B) {
	cfg := paperConfig()
	cfg.Order = 2
	if bc.change != nil {
		bc.change(&cfg)
	}
	for _, n := range benchSizes {
		if n < cfg.Bins {
			continue
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			sets, grad, k := benchSets[T](n, bc.weighted, bc.labelled), make([]T, n), 0
			bc.addVariables(sets)
			b.ReportAllocs()
			for b.Loop() {
				k++
				if _, err := LossAndGrad(grad, sets[k%len(sets)], cfg); err != nil {
					b.Fatal(err)
				}
			}
			reportPerEvent(b, n)
		})
	}
}

// addVariables draws the values of the further variables.
func (bc benchCase[T]) addVariables(sets []Events[T]) {
	if bc.variables == 0 {
		return
	}
	rng := rand.New(rand.NewPCG(4, uint64(bc.variables)))
	for k := range sets {
		ev := &sets[k]
		ev.Masses, ev.Mass = [][]T{ev.Mass}, nil
		for len(ev.Masses) < bc.variables {
			mass := make([]T, len(ev.Score))
			for i := range mass {
				mass[i] = T(rng.NormFloat64())
			}
			ev.Masses = append(ev.Masses, mass)
		}
	}
}

func reportPerEvent(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/event")
}

// benchLoss runs a benchmark of unweighted float32 events without labels.
func benchLoss(b *testing.B, change func(*Config)) { benchCase[float32]{change: change}.run(b) }

func BenchmarkOrder2Float32(b *testing.B) { benchLoss(b, nil) }
func BenchmarkOrder2Float64(b *testing.B) { benchCase[float64]{}.run(b) }
func BenchmarkWeighted(b *testing.B)      { benchCase[float32]{weighted: true}.run(b) }
func BenchmarkLabels(b *testing.B)        { benchCase[float32]{labelled: true}.run(b) }
func BenchmarkOrder5(b *testing.B)        { benchLoss(b, func(c *Config) { c.Order = 5 }) }
func BenchmarkDefaults(b *testing.B) {
	benchLoss(b, defaultsOfOrder(2))
}
func BenchmarkUnbiased(b *testing.B)  { benchLoss(b, func(c *Config) { c.Unbiased = true }) }
func BenchmarkMaxSlope(b *testing.B)  { benchLoss(b, func(c *Config) { c.MaxSlope = 0.5 }) }
func BenchmarkMonotonic(b *testing.B) { benchLoss(b, func(c *Config) { c.Monotonic = true }) }
func BenchmarkAllBounds(b *testing.B) {
	benchLoss(b, func(c *Config) { c.MaxSlope, c.Monotonic, c.Unbiased = 0.5, true, true })
}

// Two variables, by default options, beside BenchmarkDefaults.
func BenchmarkTwoVariables(b *testing.B) {
	benchCase[float32]{variables: 2, change: defaultsOfOrder(2)}.run(b)
}
func BenchmarkTwoJointly1(b *testing.B) {
	benchCase[float32]{variables: 2, change: jointlyOfOrder(1)}.run(b)
}
func BenchmarkTwoJointly2(b *testing.B) {
	benchCase[float32]{variables: 2, change: jointlyOfOrder(2)}.run(b)
}

func defaultsOfOrder(order int) func(*Config) {
	return func(c *Config) { *c = DefaultConfig(MoDe); c.Order = order }
}

func jointlyOfOrder(order int) func(*Config) {
	return func(c *Config) { defaultsOfOrder(order)(c); c.Joint = true }
}

func Benchmark256Bins(b *testing.B)  { benchLoss(b, func(c *Config) { c.Bins = 256 }) }
func BenchmarkFlatness(b *testing.B) { benchLoss(b, func(c *Config) { *c = DefaultConfig(Flatness) }) }
func BenchmarkDisCo(b *testing.B)    { benchLoss(b, func(c *Config) { *c = DefaultConfig(DisCo) }) }

// BenchmarkCategories has a million events in many categories, in random order, each with few bins, beside
// the same events without categories.
func BenchmarkCategories(b *testing.B) {
	const n, many = 1_000_000, 10_000
	sets := benchSets[float32](n, false, false)
	rng := rand.New(rand.NewPCG(4, 5))
	near, far := make([]int32, n), make([]int64, n)
	for i := range near {
		near[i] = rng.Int32N(many)
		far[i] = (int64(near[i]) - many/2) << 40
	}
	grad := make([]float32, n)
	for order := range 2 {
		for _, of := range []struct {
			name       string
			categories LabelSlice
		}{{"none", nil}, {"near", LabelsOf(near)}, {"far apart", LabelsOf(far)}} {
			b.Run(fmt.Sprintf("order %d, %s", order, of.name), func(b *testing.B) {
				cfg, k := DefaultConfig(MoDe), 0
				cfg.Order, cfg.Bins = order, 5
				b.ReportAllocs()
				for b.Loop() {
					k++
					ev := sets[k%len(sets)]
					ev.Category = of.categories
					if _, err := LossAndGrad(grad, ev, cfg); err != nil {
						b.Fatal(err)
					}
				}
				reportPerEvent(b, n)
			})
		}
	}
}
