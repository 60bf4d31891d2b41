package constraint_test

import (
	"math"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/libmode/libmode/core"
	"github.com/libmode/libmode/core/constraint"
)

// batch returns n events, half of them background with a falling spectrum, whose scores are logits that know the mass.
func batch(n int, seed uint64) core.Events[float32] {
	r := rand.New(rand.NewPCG(seed, 1))
	ev := core.Events[float32]{Score: make([]float32, n), Mass: make([]float32, n)}
	label := make([]int32, n)
	for i := range n {
		label[i] = int32(r.IntN(2))
		ev.Mass[i] = float32(50 + 60*r.ExpFloat64())
		if label[i] == 1 {
			ev.Mass[i] = float32(125 + 10*r.NormFloat64())
		}
		ev.Score[i] = float32(r.NormFloat64() + float64(label[i]) - math.Abs(float64(ev.Mass[i])-125)/50)
	}
	ev.Label = core.LabelsOf(label)
	return ev
}

func rows(n int) constraint.Rows[float32] {
	return constraint.Rows[float32]{Push: make([]float32, n), Multiplier: make([]float32, n), Slope: make([]float32, n), Part: make([]float32, n)}
}

func BenchmarkDirection(b *testing.B) {
	for _, n := range []int{1024, 20_000, 1_000_000} {
		ev := batch(n, 1)
		cfg := core.DefaultConfig()
		cfg.Order = 1
		b.Run(map[int]string{1024: "512", 20_000: "10k", 1_000_000: "500k"}[n]+"/loss", func(b *testing.B) {
			cfg := cfg
			cfg.ScoreRange = [2]float64{math.Inf(-1), math.Inf(1)}
			grad := make([]float32, n)
			defer cpu(b)()
			for b.Loop() {
				if _, err := core.LossAndGrad(grad, ev, cfg); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(map[int]string{1024: "512", 20_000: "10k", 1_000_000: "500k"}[n]+"/push", func(b *testing.B) {
			cfg := cfg
			cfg.FromLogits = true
			out, grad, r := make([]float32, n), make([]float32, n), rows(n)
			for i := range grad {
				grad[i] = 1
			}
			state, lesson := make([]float64, constraint.StateSize(1, 0)), make([]float64, constraint.StateSize(1, 0))
			defer cpu(b)()
			for b.Loop() {
				if err := constraint.Direction(r, lesson, ev, cfg, constraint.Steering{State: state}); err != nil {
					b.Fatal(err)
				}
				if err := constraint.Apply(out, grad, r, lesson, state, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// cpu reports the time of the processor, which other programs do not change much.
func cpu(b *testing.B) func() {
	used := func() int64 {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return u.Utime.Nano() + u.Stime.Nano()
	}
	before := used()
	return func() { b.ReportMetric(float64(used()-before)/float64(b.N), "cpu-ns/op") }
}
