package core

import (
	"errors"
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// bruteFlatness computes the loss as flatness.go defines it, with all CDFs
// counted from scratch at every score.
type bruteFlatness struct {
	ev     Events[float64]
	weight []float64
	bin    []int
	sums   []float64
}

// integrand returns J where the events with in[i] are below.
func (br *bruteFlatness) integrand(in []bool) (j float64) {
	var total, below float64
	cdf := make([]float64, len(br.sums))
	for i, w := range br.weight {
		total += w
		if in[i] {
			below += w
			cdf[br.bin[i]] += w / br.sums[br.bin[i]]
		}
	}
	for b, f := range cdf {
		j += br.sums[b] / total * (f - below/total) * (f - below/total)
	}
	return j
}

// lossAndGrad integrates over the range lo, hi, with all scores inside. A
// derivative is the mean of what moving the event up and down does.
func (br *bruteFlatness) lossAndGrad(lo, hi float64) (loss float64, grad []float64) {
	below := func(s float64, orEqual bool) []bool {
		in := make([]bool, len(br.weight))
		for i, other := range br.ev.Score {
			in[i] = other < s || orEqual && other == s
		}
		return in
	}
	distinct := append([]float64{lo}, br.ev.Score...)
	sort.Float64s(distinct)
	distinct = append(distinct, hi)
	for k := 1; k < len(distinct); k++ {
		loss += br.integrand(below(distinct[k-1], true)) * (distinct[k] - distinct[k-1])
	}
	grad = make([]float64, len(br.weight))
	for i, s := range br.ev.Score {
		lower, upper := below(s, false), below(s, true)
		plus, minus := below(s, false), below(s, true)
		plus[i], minus[i] = true, false
		grad[i] = (br.integrand(lower) - br.integrand(plus) + br.integrand(minus) - br.integrand(upper)) / 2
	}
	return loss, grad
}

// TestFlatnessAgainstBruteForce compares with the definition.
func TestFlatnessAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for compared := 0; compared < 150; {
		ev, random := randomCase(rng)
		cfg := DefaultConfig(Flatness)
		cfg.Bins, cfg.Binning, cfg.ScoreRange = random.Bins, random.Binning, [2]float64{-0.25, 1.5}
		got := make([]float64, len(ev.Score))
		value, err := LossAndGrad(got, ev, cfg)
		if errors.Is(err, ErrBin) { // negative weights left a bin unusable
			require.NotNil(t, ev.Weight)
			continue
		}
		require.NoError(t, err)
		compared++

		edges, err := Edges(ev, cfg)
		require.NoError(t, err)
		br := bruteFlatness{ev: ev, weight: onesIfNil(ev.Weight, len(ev.Score)), sums: make([]float64, len(edges)-1)}
		for i, m := range ev.Mass {
			b := sort.Search(len(br.sums)-1, func(k int) bool { return edges[k+1] > m })
			br.bin = append(br.bin, b)
			br.sums[b] += br.weight[i]
		}
		loss, grad := br.lossAndGrad(-0.25, 1.5)
		require.InDelta(t, loss, value, 1e-11*loss)
		require.InDeltaSlice(t, grad, got, 1e-10*floats.Norm(grad, inf))
	}
}

// One bin is flat. Options of other losses, and events that cannot be binned, are errors.
func TestFlatnessErrors(t *testing.T) {
	ev := manyEvents[float64](100, false)
	cfg := DefaultConfig(Flatness)
	cfg.Bins = 1
	grad := make([]float64, 100)
	loss, err := LossAndGrad(grad, ev, cfg)
	require.NoError(t, err)
	assert.InDelta(t, 0, loss, 1e-15)
	assert.InDelta(t, 0, floats.Norm(grad, inf), 1e-15)

	for want, change := range map[string]func(*Config){
		"order = 2 has no meaning for loss = flatness":     func(c *Config) { c.Order = 2 },
		"unbiased = true has no meaning":                   func(c *Config) { c.Unbiased = true },
		"reduction = sum has no meaning":                   func(c *Config) { c.Reduction = Sum },
		"bins = -1 must be at least 1":                     func(c *Config) { c.Bins = -1 },
		"score_range = [1, 0] must have":                   func(c *Config) { c.ScoreRange = [2]float64{1, 0} },
		"100 selected events cannot fill bins = 101":       func(c *Config) { c.Bins = 101 },
		"bin 0 of 2, mass in [0, 1), has sum of weights 0": func(c *Config) { c.Binning, c.Edges = GivenEdges, []float64{0, 1, math.MaxFloat64} },
	} {
		cfg := DefaultConfig(Flatness)
		change(&cfg)
		_, err := LossAndGrad(nil, ev, cfg)
		assert.ErrorContains(t, err, want)
	}
}
