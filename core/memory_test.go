package core

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a call is expected to take, before it begins, is no less than what it allocates where nothing is kept from
// earlier ones, and not four times as much.
func TestMemory(t *testing.T) {
	for name, c := range map[string]struct {
		variables int
		change    func(*Config)
		hess      bool
	}{
		"order 2":       {1, func(c *Config) { c.Order = 2 }, false},
		"all bounds":    {1, func(c *Config) { c.Order, c.MaxSlope, c.Monotonic = 2, 0.5, true }, false},
		"4,000 bins":    {1, func(c *Config) { c.Bins = 4_000 }, false},
		"10,000 bins":   {1, func(c *Config) { c.Bins = 10_000 }, false},
		"without bins":  {1, func(c *Config) { c.Binning, c.Degree = Unbinned, 6 }, false},
		"splines":       {1, func(c *Config) { c.Basis = BSpline }, false},
		"flatness":      {1, func(c *Config) { *c = DefaultConfig(Flatness) }, false},
		"DisCo":         {1, func(c *Config) { *c = DefaultConfig(DisCo) }, false},
		"curvature":     {1, func(c *Config) { c.Order = 1 }, true},
		"two variables": {2, func(c *Config) { c.Missing = MissingIgnore }, false},
		"three":         {3, func(*Config) {}, false},
		"two jointly":   {2, func(c *Config) { c.Joint, c.Missing = true, MissingIgnore }, false},
		"three jointly": {3, func(c *Config) { c.Joint, c.Order = true, 2 }, false},
		"crowded":       {1, func(c *Config) { c.Order = 2 }, false},
		"crowded, all":  {1, func(c *Config) { c.Order, c.MaxSlope, c.Monotonic = 2, 0.5, true }, false},
	} {
		for _, weighted := range []bool{false, true} {
			for _, labelled := range []bool{false, true} {
				crowded := strings.HasPrefix(name, "crowded")
				name := fmt.Sprintf("%s, weights %v, labels %v", name, weighted, labelled)
				cfg := DefaultConfig(MoDe)
				c.change(&cfg)
				ev := memoryEvents(c.variables, weighted, labelled)
				if crowded { // half of the scores are 0, and masses 1 to 4
					for i, s := range ev.Score {
						ev.Score[i], ev.Mass[i] = max(0, s-0.5), math.Ceil(4*ev.Mass[i])
					}
				}
				if cfg.Missing == MissingIgnore {
					ev.Masses[0][7], ev.Masses[1][70] = nan, nan
				}
				grad := make([]float64, len(ev.Score))
				out := derivatives[float64]{grad}
				if c.hess {
					out[1] = make([]float64, len(grad))
				}
				expected := float64(bytesOf(&ev, &cfg, labelled, out)(len(grad)))
				taken := float64(allocated(t, func() error {
					if c.hess {
						_, err := LossGradHess(out[0], out[1], ev, cfg, DefaultSmoothing)
						return err
					}
					_, err := LossAndGrad(grad, ev, cfg)
					return err
				}))
				assert.LessOrEqual(t, taken, expected, name)
				assert.Less(t, expected, 4*taken, name)
			}
		}
	}
}

// memoryEvents are so many that what a call takes whatever their number does not matter.
func memoryEvents(variables int, weighted, labelled bool) Events[float64] {
	const n = 200_000
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func() []float64 {
		drawn := make([]float64, n)
		for i := range drawn {
			drawn[i] = rng.Float64()
		}
		return drawn
	}
	ev := Events[float64]{Score: draw()}
	if variables == 1 {
		ev.Mass = draw()
	} else {
		for range variables {
			ev.Masses = append(ev.Masses, draw())
		}
	}
	if weighted {
		ev.Weight = draw()
	}
	if labelled {
		ev.Label = LabelsOf(make([]int32, n))
	}
	return ev
}

// allocated returns how many bytes a call allocates where nothing is kept, the least of three tries: now and then one goroutine
// does not find in a pool what another has just put back. Tests make each call twice, with vector instructions and without
// (vectors_test.go): the second finds what the first has kept.
func allocated(t *testing.T, call func() error) uint64 {
	least := uint64(math.MaxUint64)
	for range 3 {
		runtime.GC()
		runtime.GC()                      // pools forget in two steps
		percent := debug.SetGCPercent(-1) // and not during the call, which would take the same again
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := call()
		runtime.ReadMemStats(&after)
		debug.SetGCPercent(percent)
		require.NoError(t, err)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}
