package core_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/libmode/libmode/core"
)

// sculpted draws events whose scores grow with the mass, which a loss of order 0 sees.
func sculpted(n int) core.Events[float64] {
	rng := rand.New(rand.NewPCG(1, 2))
	ev := core.Events[float64]{Score: make([]float64, n), Mass: make([]float64, n)}
	for i := range n {
		ev.Mass[i] = 50 + 250*rng.Float64()
		ev.Score[i] = (ev.Mass[i]/300 + rng.Float64()) / 2
	}
	return ev
}

// The loss of some events and its gradient with respect to their scores. A step against
// the gradient makes the loss smaller.
func ExampleLossAndGrad() {
	ev := sculpted(10_000)
	cfg := core.DefaultConfig()

	grad := make([]float64, len(ev.Score))
	before, err := core.LossAndGrad(grad, ev, cfg)
	if err != nil {
		panic(err)
	}
	for i, g := range grad {
		ev.Score[i] = min(max(ev.Score[i]-500*g, 0), 1)
	}
	after, err := core.Loss(ev, cfg)
	if err != nil {
		panic(err)
	}
	fmt.Printf("order 0: %.4f, and less after a step: %t\n", before, after < before)

	cfg.Order = 1 // the response may be linear in the mass
	linear, err := core.Loss(sculpted(10_000), cfg)
	if err != nil {
		panic(err)
	}
	fmt.Println("order 1 sees less of it:", linear < before/10)
	// Output:
	// order 0: 0.0240, and less after a step: true
	// order 1 sees less of it: true
}

// The bins that the loss uses, in units of mass.
func ExampleEdges() {
	ev := core.Events[float64]{Mass: []float64{60, 61, 64, 70, 80, 95, 115, 150}}
	cfg := core.DefaultConfig()
	cfg.Bins = 4
	edges, err := core.Edges(ev, cfg)
	fmt.Println(edges, err)
	// Output: [60 62.5 75 105 150] <nil>
}

// What the loss is made of at a score: the fraction of each bin's events below it, and
// the slope of their dependence on mass.
func ExampleMomentsAt() {
	cfg := core.DefaultConfig()
	cfg.Order, cfg.Bins = 1, 3
	table, err := core.MomentsAt([]float64{0.5}, sculpted(30_000), cfg)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.2f, slope %.2f\n", table.CDF[0], table.Moments[0][1])
	// Output: [0.69 0.41 0.14], slope -0.41
}

// An error names the argument, the value and the place, and wraps what it is about.
func ExampleLoss_error() {
	ev := sculpted(1_000)
	ev.Score[17] = 1.5
	_, err := core.Loss(ev, core.DefaultConfig())
	fmt.Println(errors.Is(err, core.ErrScoreRange))
	fmt.Println(err)
	// Output:
	// true
	// score[17] = 1.5 lies outside score_range = [0, 1]: apply a sigmoid to raw outputs, or set it to [-Inf, +Inf]
}

// Whether a loss is significant: n events see nothing where it is at most Bias Events/n. These 10,000 see the dependence
// on the mass, 100 of them would not.
func ExampleEvaluate() {
	found, err := core.Evaluate(nil, sculpted(10_000), core.DefaultConfig())
	if err != nil {
		panic(err)
	}
	for _, n := range []float64{10_000, 100} {
		fmt.Printf("%.1f\n", found.Loss/(found.Bias*found.Events/n))
	}
	// Output:
	// 92.3
	// 0.9
}

// The gradient, and a bound of the curvature for steps of Newton's method of about half the range of scores.
func ExampleCurvature() {
	ev := sculpted(10_000)
	grad, hess := make([]float64, len(ev.Score)), make([]float64, len(ev.Score))
	found, err := core.Curvature(grad, hess, 0.5, ev, core.DefaultConfig())
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.4f %t\n", found.Loss, slices.Min(hess) > 0)
	// Output: 0.0240 true
}

// Labels are read in the type that they have. Here label 1 is the background.
func ExampleLabelsOf() {
	ev := core.Events[float64]{Mass: []float64{60, 61, 64, 70, 80, 95}}
	ev.Label = core.LabelsOf([]bool{true, true, false, true, true, false})
	cfg := core.DefaultConfig()
	cfg.Bins, cfg.BackgroundLabel = 2, []int32{1}
	edges, err := core.Edges(ev, cfg)
	fmt.Println(edges, err)
	// Output: [60 65.5 80] <nil>
}

// The defaults, which a Config of zeros stands for.
func ExampleDefaultConfig() {
	cfg := core.DefaultConfig()
	fmt.Println(cfg.Order, cfg.Bins, cfg.ScoreRange, cfg.MaxSlope, cfg.BackgroundLabel)
	// Output: 0 0 [0 1] +Inf [0]
}

// Validate finds bad options before there are events.
func ExampleConfig_Validate() {
	cfg := core.DefaultConfig()
	cfg.Order = 17
	err := cfg.Validate()
	fmt.Println(errors.Is(err, core.ErrOption))
	fmt.Println(err)
	// Output:
	// true
	// order = 17 must be between 0 and 16
}

// Options as a text, as in C, C++ and Python.
func ExampleParse() {
	cfg, err := core.Parse("order=1 max_slope=0.5 mass_range=50,300")
	fmt.Println(cfg.Order, cfg.MaxSlope, cfg.MassRange, err)
	_, err = core.Parse("oder=1")
	fmt.Println(err)
	// Output:
	// 1 0.5 [50 300] <nil>
	// oder=1: there is no option of this name; the nearest is order
}

// The options that differ from their defaults.
func ExampleConfig_Text() {
	cfg := core.DefaultConfig()
	cfg.Order, cfg.Quadrature, cfg.Biased = 2, true, true
	fmt.Println(cfg.Text())
	// Output: order=2 moments=quadrature unbiased=false
}

// A line for each option.
func ExampleOptionTable() {
	order, _, _ := strings.Cut(core.OptionTable(), "\n")
	fmt.Println(strings.Split(order, "\t"))
	// Output: [order integer 0 an integer, between 0 and 16]
}

// One thread for each call, as where there is a call for each processor already.
func ExampleSetThreads() {
	core.SetThreads(1)
	defer core.SetThreads(0) // all of them
	fmt.Println(core.Threads())
	// Output: 1
}
