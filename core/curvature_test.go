package core

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func measured[T Float](grad, hess []T, ev Events[T], cfg Config, smoothing float64) (Result, error) {
	return Evaluate(grad, hess, ev, cfg.WithSmoothing(smoothing))
}

// hessOf returns hess of events, and checks the loss and the gradient that come with it.
func hessOf[T Float](t *testing.T, ev Events[T], cfg Config, smoothing float64) []T {
	t.Helper()
	n := len(ev.Score)
	grad, hess, want := make([]T, n), make([]T, n), make([]T, n)
	found, err := measured(grad, hess, ev, cfg, smoothing)
	require.NoError(t, err)
	expected, err := LossAndGrad(want, ev, cfg)
	require.NoError(t, err)
	require.Equal(t, expected, found.Loss)
	require.Equal(t, want, grad)
	for i, h := range hess {
		require.True(t, h >= 0 && finite(float64(h)), "hess[%d] = %v", i, h)
	}
	alone := make([]T, n)
	_, err = measured(nil, alone, ev, cfg, smoothing)
	require.NoError(t, err)
	require.Equal(t, hess, alone)
	return hess
}

// matrix returns M of the brute force by its definition: J of two bins' CDFs, polarised.
func (br *brute) matrix() [][]float64 {
	j := func(ones ...int) (sum float64) {
		f := make([]float64, br.nb)
		for _, b := range ones {
			f[b]++
		}
		c := make([]float64, len(br.p[0]))
		for b := range f {
			for l := range c {
				c[l] += br.a[b][l] * f[b]
			}
		}
		for b, r := range f {
			for l := range c {
				r -= br.p[b][l] * c[l]
			}
			sum += r * r
		}
		if len(c) > 1 {
			sum += br.cfg.SlopePenalty * c[1] * c[1]
		}
		return sum
	}
	m := make([][]float64, br.nb)
	for a := range m {
		m[a] = make([]float64, br.nb)
		for b := range m[a] {
			m[a][b] = (j(a, b) - j(a) - j(b)) / 2
		}
	}
	return m
}

// linearDensity draws scores whose density at a mass is 1 + c (2 s - 1) in [0, 1], with c between -0.9 and 0.9 rising
// with the mass; the mean of such a density over a window is that in its middle.
func linearDensity(n int, negative float64) (ev Events[float64], c []float64) {
	rng := rand.New(rand.NewPCG(31, uint64(n)))
	ev, c = Events[float64]{Score: make([]float64, n), Mass: make([]float64, n), Weight: make([]float64, n)}, make([]float64, n)
	for i := range n {
		u := rng.Float64()
		ev.Mass[i] = 50 - 60*math.Log(1-0.95*u)
		c[i] = 1.8*u - 0.9
		for {
			ev.Score[i] = rng.Float64()
			if rng.Float64()*1.9 < 1+c[i]*(2*ev.Score[i]-1) {
				break
			}
		}
		ev.Weight[i] = 0.5 + rng.Float64()
		if rng.Float64() < negative {
			ev.Weight[i] *= -1
		}
	}
	return ev, c
}

// h is the formula with densities known in closed form, and M by its definition.
func TestHessOfKnownDensities(t *testing.T) {
	const smoothing = 0.1
	for name, change := range map[string]func(*Config){
		"order 0":     func(c *Config) {},
		"order 1":     func(c *Config) { c.Order = 1 },
		"penalty":     func(c *Config) { c.Order, c.SlopePenalty = 1, 0.5 },
		"sum":         func(c *Config) { c.Order, c.Reduction = 1, Sum },
		"quadrature":  func(c *Config) { c.Order, c.Moments = 1, Quadrature },
		"monotonic":   func(c *Config) { c.Order, c.Monotonic = 2, true },
		"order 5":     func(c *Config) { c.Order, c.Bins = 5, 12 },
		"many in row": func(c *Config) { c.Order, c.Bins = 2, 20 },
	} {
		for _, negative := range []float64{0, 0.15} {
			t.Run(fmt.Sprintf("%s, negative %v", name, negative), func(t *testing.T) {
				ev, c := linearDensity(200_000, negative)
				cfg := DefaultConfig(MoDe)
				cfg.Bins = 8
				change(&cfg)
				hess := hessOf(t, ev, cfg, smoothing)

				cfg.MaxSlope, cfg.Monotonic = math.Inf(1), false // h is that of the loss without
				br := newBrute(t, ev, cfg)
				m, scale := br.matrix(), 1.0
				if cfg.Reduction == Mean {
					scale /= float64(br.nb)
				}
				// Sums over a bin's events of one sign, of |w| and of |w| c, in units of its sum of weights.
				of := make([][2][2]float64, br.nb)
				for i, w := range ev.Weight {
					sign := 0
					if w < 0 {
						sign = 1
					}
					e := math.Abs(w) / br.sums[br.bin[i]]
					of[br.bin[i]][sign][0] += e
					of[br.bin[i]][sign][1] += e * c[i]
				}
				var sum, expected float64
				for i, w := range ev.Weight {
					s := ev.Score[i]
					if s < 2*smoothing || s > 1-2*smoothing {
						continue // windows are cut off at the ends
					}
					var want float64
					for b := range of {
						bent := -m[br.bin[i]][b]
						if w < 0 {
							bent = -bent
						}
						for sign, density := range of[b] {
							want += max(0, bent*float64(1-2*sign)) * (density[0] + density[1]*(2*s-1))
						}
					}
					want *= 4 * scale * math.Abs(w) / br.sums[br.bin[i]]
					require.InEpsilon(t, want, hess[i], 0.12, "event %d, score %v", i, s)
					sum, expected = sum+hess[i], expected+want
				}
				require.InEpsilon(t, expected, sum, 0.01)
			})
		}
	}
}

// Scores of few values far from each other, as those of a first tree: each tie is spread over a window of its own.
func TestHessOfFewScores(t *testing.T) {
	const n, smoothing = 4_000, 0.05
	values, windows := []float64{0, 0.3, 0.5, 0.97, 1}, []float64{0.025, 0.05, 0.05, 0.05, 0.025}
	rng := rand.New(rand.NewPCG(32, 1))
	ev, of := Events[float64]{Score: make([]float64, n), Mass: make([]float64, n)}, make([]int, n)
	for i := range n {
		of[i] = min(rng.IntN(12), 4) // the last has most of the events
		ev.Score[i], ev.Mass[i] = values[of[i]], rng.Float64()
	}
	ev.Score[0], of[0] = 0.2, -1 // one by itself, which the strip of a tie must not bring near it
	cfg := DefaultConfig(MoDe)
	cfg.Bins = 4
	hess := hessOf(t, ev, cfg, smoothing)
	br := newBrute(t, ev, cfg)
	m := br.matrix()
	counts := make([][5]float64, br.nb)
	for i, k := range of {
		if k >= 0 {
			counts[br.bin[i]][k]++
		}
	}
	for i, k := range of {
		if k < 0 {
			continue
		}
		var want float64
		for b := range counts {
			want += max(0, -m[br.bin[i]][b]) * counts[b][k] / br.sums[b]
		}
		want *= 4 / float64(br.nb) / br.sums[br.bin[i]] / windows[k]
		require.InEpsilon(t, want, hess[i], 1e-12, "score %v", ev.Score[i])
	}
}

func TestHessOfEqualScores(t *testing.T) {
	ev := resultEvents(1_000, 1, false)
	for i := range ev.Score {
		ev.Score[i] = 0.25
	}
	cfg := DefaultConfig(MoDe)
	cfg.Bins = 2
	// M is [1, -1; -1, 1]/2, n_b 500 and the window 1/16: 4/2 * 1/500 * 1/2 * 16.
	for _, h := range hessOf(t, ev, cfg, defaultSmoothing) {
		require.InDelta(t, 0.032, h, 1e-12)
	}
	cfg.ScoreRange = unbounded()
	for _, h := range hessOf(t, ev, cfg, defaultSmoothing) {
		require.Zero(t, h) // nothing says what is far and what is near
	}
}

func TestHessOfEventsOutside(t *testing.T) {
	ev := resultEvents(2_000, 1, true)
	ev.Weight[40] = 0
	cfg := DefaultConfig(MoDe)
	cfg.MassRange = [2]float64{60, 150}
	for i, h := range hessOf(t, ev, cfg, 0.1) {
		taken := ev.Mass[i] >= 60 && ev.Mass[i] <= 150 && ev.Weight[i] != 0
		require.Equal(t, taken, h > 0, "event %d", i)
	}
}

func TestHessOfThreads(t *testing.T) {
	defer SetThreads(0)
	for _, weighted := range []bool{false, true} {
		ev := spreadEvents[float32](150_000, weighted, 0.1)
		cfg := DefaultConfig(MoDe)
		cfg.Order = 1
		var all [][]float32
		for _, threads := range []int{1, 2, 5} {
			SetThreads(threads)
			all = append(all, hessOf(t, ev, cfg, defaultSmoothing))
		}
		require.Equal(t, all[0], all[1])
		require.Equal(t, all[0], all[2])
	}
}

func TestHessErrors(t *testing.T) {
	of := func(kind LossKind) func(*Config, *float64) {
		return func(c *Config, _ *float64) { *c = DefaultConfig(kind) }
	}
	smoothing := func(value float64) func(*Config, *float64) { return func(_ *Config, s *float64) { *s = value } }
	hess := make([]float64, 200)
	for want, change := range map[string]func(*Config, *float64){
		"loss = disco has no bound": of(DisCo), "loss = flatness has no bound": of(Flatness), "smoothing = -1:": smoothing(-1),
		"smoothing = NaN": smoothing(math.NaN()), "smoothing = +Inf": smoothing(math.Inf(1)), "score is too coarse for hess: 1e-300": smoothing(1e-300),
	} {
		cfg, smoothing := DefaultConfig(MoDe), defaultSmoothing
		change(&cfg, &smoothing)
		_, err := measured(nil, hess, resultEvents(200, 1, false), cfg, smoothing)
		require.ErrorIs(t, err, ErrOption)
		require.ErrorContains(t, err, want)
	}
	_, err := measured(nil, make([]float64, 3), resultEvents(200, 1, false), DefaultConfig(MoDe), defaultSmoothing)
	require.ErrorIs(t, err, ErrLength)
	require.ErrorContains(t, err, "hess has length 3")

	for _, bins := range []int{4096, 4097} {
		many, cfg := resultEvents(3*4096, 1, false), DefaultConfig(MoDe)
		cfg.Bins = bins
		_, err = measured(nil, make([]float64, 3*4096), many, cfg, defaultSmoothing)
		if bins == 4096 {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, ErrOption)
			require.ErrorContains(t, err, "4097 bins")
		}
	}
	cfg, small := DefaultConfig(MoDe), resultEvents(200, 1, false)
	for i := range small.Score { // the smallest numbers that there are
		small.Score[i] = float64(i%3) * 5e-324
	}
	cfg.ScoreRange = unbounded()
	_, err = measured(nil, hess, small, cfg, 2)
	require.ErrorIs(t, err, ErrOverflow)
	require.ErrorContains(t, err, "hess")
}
