package core

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// sides are option sets for numbers of events: each takes another of the forms that a walk has.
var sides = map[string]func(*Config){
	"order 0":    func(c *Config) { *c = DefaultConfig() },
	"order 1":    func(c *Config) { *c = DefaultConfig(); c.Order, c.Bins = 1, 5 },
	"quadrature": func(c *Config) { c.Order, c.Bins = 2, 5 },
	"bounded":    func(c *Config) { c.Order, c.Bins, c.MaxSlope, c.Monotonic, c.Biased = 2, 4, 0.3, true, false },
}

// positive makes weights of events positive, so that every bin may be used.
func positive(ev Events[float64]) Events[float64] {
	for i, w := range ev.Weight {
		ev.Weight[i] = 0.1 + math.Abs(w)
	}
	return ev
}

// around returns the numbers below, at and above each of these.
func around(limits ...int) (all []int) {
	for _, n := range limits {
		all = append(all, n-1, n, n+1)
	}
	return all
}

// Numbers of events at which a block, a table or a share of a goroutine ends.
func TestBothSidesOfNumbersOfEvents(t *testing.T) {
	for _, n := range around(32*8, 512, 1<<10, 1<<11, 1<<12, 1<<13, 1<<14, 1<<15) {
		for name, change := range sides {
			cfg := paperConfig()
			if change(&cfg); n > 1<<12 {
				cfg.Bins = 5 // the definition takes a time that grows with their square
			}
			requireDefinition(t, positive(spreadEvents[float64](n, name == "order 0", 0.1)), cfg, 1e-9, fmt.Sprint(name, ", ", n))
		}
	}
}

func TestBothSidesOfNumbersOfTies(t *testing.T) {
	for _, ties := range around(128, 512, 1<<12, 1<<14, 1<<15) {
		for name, change := range sides {
			for _, weighted := range []bool{false, true} {
				cfg := paperConfig()
				change(&cfg)
				if ties > 1<<10 {
					cfg.Bins = 4
				}
				ev := positive(spreadEvents[float64](max(1500, 2*ties), weighted, 0))
				for i := range ties {
					ev.Score[2*i] = 0.625
				}
				requireDefinition(t, ev, cfg, 1e-9, fmt.Sprint(name, ", ", ties, " ties"))
			}
		}
	}
}

// A tied event that alone takes c_1 to 0, and with others on either side of it in the tie.
func TestTieWithoutSlopeHalfway(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, ties := range []int{4, 60, 300, 3000} {
		ev := Events[float64]{Score: []float64{0.25, 0.75, 0.75}, Mass: []float64{10, 10, 90}, Weight: []float64{1, 3, 3}}
		for i := range ties { // in pairs on either side of the middle, but for one of weight 1 below the tie, and its fellow
			w := 0.5 + rng.Float64()
			for _, mass := range []float64{10 + 20*float64(i%2), 90 - 20*float64(i%2)} {
				ev.Score, ev.Mass, ev.Weight = append(ev.Score, 0.5), append(ev.Mass, mass), append(ev.Weight, w)
			}
			if i == ties/2 {
				ev.Score, ev.Mass, ev.Weight = append(ev.Score, 0.5), append(ev.Mass, 90), append(ev.Weight, 1)
			}
		}
		for _, maxSlope := range []float64{0.3, math.Inf(1)} {
			cfg := paperConfig()
			cfg.Order, cfg.Monotonic, cfg.MaxSlope, cfg.Biased = 2, true, maxSlope, ties <= 4
			cfg.Binning, cfg.Edges = GivenEdges, []float64{0, 20, 40, 60, 80, 100}
			ev.Score, ev.Mass, ev.Weight = append(ev.Score, 0.1, 0.9), append(ev.Mass, 50, 50), append(ev.Weight, 1, 2)
			requireDefinition(t, ev, cfg, 1e-9, fmt.Sprint(ties, " ties, ", maxSlope))
		}
	}
}

// A given bin with fewer effective events has no variance, whatever the signs of its weights; one with more has all digits.
func TestBothSidesOfFewestEffective(t *testing.T) {
	for _, weights := range [][]float64{{1, 0.0249}, {1, 1, -0.97}, {1e6, 1e-6}, {1, 0.0251}, {1, 0.02, 0.02, -0.0148}, {1, -0.9, 0.9, 0.8}} {
		ev := positive(spreadEvents[float64](200, true, 0.1))
		for i, w := range weights {
			ev.Score[i], ev.Mass[i], ev.Weight[i] = 0.2+0.2*float64(i), 20, w
		}
		cfg := DefaultConfig()
		cfg.Binning, cfg.Edges, cfg.Order = GivenEdges, []float64{0, 50, 75, 100, 150, 1000}, 1
		_, err := Loss(ev, cfg)
		total := floats.Sum(weights)
		if effective := total * total / floats.Dot(weights, weights); effective < 1.05 {
			require.ErrorIs(t, err, ErrBin, weights)
			require.ErrorContains(t, err, fmt.Sprintf("bin 0 of 5, mass in [0, 50), has (sum of weights)^2 / (sum of squared weights) = %.4g effective events", effective))
			cfg.Biased = true
			_, err = Loss(ev, cfg)
			require.NoError(t, err)
			continue
		}
		require.NoError(t, err, weights)
		requireDefinition(t, ev, cfg, 1e-11, fmt.Sprint(weights))
	}
}

func TestBothSidesOfNumbersOfBins(t *testing.T) {
	for _, bins := range around(32, 256) {
		cfg := paperConfig()
		cfg.Order, cfg.Bins, cfg.Quadrature = 1, bins, false
		requireDefinition(t, spreadEvents[float64](40*bins+7, false, 0.1), cfg, 1e-9, fmt.Sprint(bins, " bins"))
	}
}

// A max_slope below 1e-100 counts as that.
func TestBothSidesOfTheLeastMaxSlope(t *testing.T) {
	ev, cfg := spreadEvents[float64](500, false, 0.1), DefaultConfig()
	cfg.Order, cfg.Bins = 2, 6
	var losses []float64
	for _, slope := range []float64{math.Nextafter(1e-100, 0), 1e-100, math.Nextafter(1e-100, 1)} {
		cfg.MaxSlope = slope
		requireDefinition(t, ev, cfg, 1e-9, fmt.Sprint(slope))
		loss, err := Loss(ev, cfg)
		require.NoError(t, err)
		losses = append(losses, loss)
	}
	require.InDeltaSlice(t, losses[:1], losses[1:2], 1e-12)
}
