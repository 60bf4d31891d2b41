package core

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchEvents draws independent scores and masses that fall exponentially.
func benchEvents[T Float](n int, weighted bool) Events[T] {
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	ev := Events[T]{Score: make([]T, n), Mass: make([]T, n)}
	for i := range n {
		ev.Score[i] = T(rng.Float64())
		ev.Mass[i] = T(50 + 60*rng.ExpFloat64())
	}
	if weighted {
		ev.Weight = make([]T, n)
		for i := range n {
			ev.Weight[i] = T(rng.ExpFloat64())
		}
	}
	return ev
}

var benchSizes = []int{100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000}

func benchLoss[T Float](b *testing.B, weighted bool, change func(*Config)) {
	cfg := paperConfig()
	cfg.Order = 2
	change(&cfg)
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ev := benchEvents[T](n, weighted)
			grad := make([]T, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := LossAndGrad(grad, ev, cfg); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/event")
		})
	}
}

func BenchmarkOrder2Float32(b *testing.B) { benchLoss[float32](b, false, func(*Config) {}) }
func BenchmarkOrder2Float64(b *testing.B) { benchLoss[float64](b, false, func(*Config) {}) }
func BenchmarkOrder5(b *testing.B)        { benchLoss[float32](b, false, func(c *Config) { c.Order = 5 }) }
func BenchmarkWeighted(b *testing.B)      { benchLoss[float32](b, true, func(*Config) {}) }
func BenchmarkUnbiased(b *testing.B) {
	benchLoss[float32](b, false, func(c *Config) { c.Unbiased = true })
}
func BenchmarkMaxSlope(b *testing.B) {
	benchLoss[float32](b, false, func(c *Config) { c.MaxSlope = 0.5 })
}
func BenchmarkMonotonic(b *testing.B) {
	benchLoss[float32](b, false, func(c *Config) { c.Monotonic = true })
}
func BenchmarkAllBounds(b *testing.B) {
	benchLoss[float32](b, false, func(c *Config) { c.MaxSlope, c.Monotonic, c.Unbiased = 0.5, true, true })
}
func Benchmark256Bins(b *testing.B) {
	benchLoss[float32](b, false, func(c *Config) { c.Bins = 256 })
}

// The stages of one call, in their order; each is timed over its own input.
func BenchmarkStages(b *testing.B) {
	cfg := paperConfig()
	cfg.Order = 2
	for _, n := range benchSizes[1:] {
		ev := benchEvents[float32](n, false)
		grad := make([]float32, n)
		sc := takeScratch()
		stage := func(name string, prepare, f func()) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					prepare()
					b.StartTimer()
					f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/event")
			})
		}
		var sel *selection[float32]
		var bs *bins
		var rs *records[float32]
		var su *sums
		check := func() { sel, _ = selectEvents(ev, nil, &cfg, true, sc) }
		bin := func() { bs, _ = newBins(sel, &cfg, 1, sc) }
		fill := func() { rs = newRecords(sel, bs, sc) }
		sort := func() { su = rs.sort(nil, 1, bs.count(), sc) }
		walk := func() {
			in, _ := newIntegrand(&cfg, bs, rs, su, 1, sc)
			wa := walk[float32]{records: rs, in: in, sums: su, limits: limitsOf(&cfg, &sel.stats), grad: grad, walker: walkerOf[float32](in, su)}
			_, _ = wa.integrate(sc)
		}
		start := func(before ...func()) func() {
			return func() {
				for _, f := range before {
					f()
				}
			}
		}
		stage("check", start(), check)
		stage("bins", start(check), bin)
		stage("fill", start(check, bin), fill)
		stage("sort", start(check, bin, fill), sort)
		stage("walk", start(check, bin, fill, sort), walk)
	}
}
