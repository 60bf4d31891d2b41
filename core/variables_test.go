package core

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// severalVariables draws events with three masses, the second of which some events have not and the third of which
// depends on the first.
func severalVariables[T Float](n int, weighted bool, missing float64) Events[T] {
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	ev := Events[T]{Score: make([]T, n), Masses: [][]T{make([]T, n), make([]T, n), make([]T, n)}}
	if weighted {
		ev.Weight = make([]T, n)
	}
	for i := range n {
		a := rng.ExpFloat64()
		ev.Masses[0][i], ev.Masses[1][i], ev.Masses[2][i] = T(60+40*a), T(rng.NormFloat64()), T(math.Floor(8*a+4*rng.Float64()))
		if rng.Float64() < missing {
			ev.Masses[1][i] = T(math.NaN())
		}
		ev.Score[i] = T(math.Floor(1e5/(1+math.Exp(rng.NormFloat64()-a))) / 1e5)
		if weighted {
			ev.Weight[i] = T(rng.NormFloat64()/4 + 1)
		}
	}
	return ev
}

// testOneByOne compares with the mean of the losses of calls with one variable each, from which events that have no
// value are left out by hand.
func testOneByOne[T Float](t *testing.T, ev Events[T], cfg Config, tolerance float64) {
	t.Helper()
	n := len(ev.Score)
	got, want := make([]T, n), make([]T, n)
	loss, err := LossAndGrad(got, ev, cfg)
	require.NoError(t, err)
	var mean float64
	for k, mass := range ev.Masses {
		one, index := Events[T]{}, []int{}
		for i, m := range mass {
			if m == m {
				one.Score, one.Mass, index = append(one.Score, ev.Score[i]), append(one.Mass, m), append(index, i)
				if ev.Weight != nil {
					one.Weight = append(one.Weight, ev.Weight[i])
				}
			}
		}
		own := cfg
		own.Variables = nil
		if cfg.Variables != nil {
			own.Bins, own.MassRange = cfg.Variables[k].Bins, cfg.Variables[k].MassRange
		}
		grad := make([]T, len(index))
		alone, err := LossAndGrad(grad, one, own)
		require.NoError(t, err)
		mean += alone / float64(len(ev.Masses))
		for j, i := range index {
			want[i] += grad[j] / T(len(ev.Masses))
		}
	}
	assert.InDelta(t, mean, loss, tolerance*(math.Abs(mean)+1e-3))
	requireAlike(t, want, got, tolerance)
}

func TestOneByOne(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"defaults":   func(c *Config) {},
		"order 2":    func(c *Config) { c.Order = 2 },
		"order 5":    func(c *Config) { c.Order, c.Bins = 5, 12 },
		"quadrature": func(c *Config) { c.Order, c.Moments = 1, Quadrature },
		"bounds":     func(c *Config) { c.Order, c.Monotonic, c.MaxSlope = 2, true, 0.5 },
		"paper":      func(c *Config) { *c = paperConfig() },
		"uniform":    func(c *Config) { c.Binning, c.Bins, c.Unbiased = Uniform, 5, false },
		"B-splines":  func(c *Config) { c.Basis, c.Bins = BSpline, 12 },
		"open":       func(c *Config) { c.ScoreRange = unbounded() },
		"flatness":   func(c *Config) { *c = DefaultConfig(Flatness) },
		"many bins":  func(c *Config) { c.Bins, c.Unbiased = 45, false }, // cells that have no room in a record
		"its own": func(c *Config) {
			c.Order = 1
			c.Variables = []Variable{{Bins: 7, MassRange: [2]float64{60, 160}}, {Bins: 3, MassRange: unbounded()}, {Bins: 11, MassRange: unbounded()}}
		},
	} {
		for _, n := range []int{500, 3000, 40_000} {
			for _, missing := range []float64{0, 0.3} {
				cfg := DefaultConfig(MoDe)
				change(&cfg)
				cfg.Missing = MissingIgnore
				weighted := n == 3000 && name != "uniform"
				t.Run(name, func(t *testing.T) { testOneByOne(t, severalVariables[float64](n, weighted, missing), cfg, 1e-9) })
				t.Run(name+", float32", func(t *testing.T) { testOneByOne(t, severalVariables[float32](n, weighted, missing), cfg, 2e-5) })
			}
		}
	}
	t.Run("DisCo", func(t *testing.T) {
		testOneByOne(t, severalVariables[float64](700, true, 0), DefaultConfig(DisCo), 1e-9)
	})
}

// A variable of which no event has a value in its range is left out of the mean; where that is so of all, there is no loss.
func TestVariableWithoutEvents(t *testing.T) {
	ev := severalVariables[float64](1000, false, 1) // the second variable is NaN everywhere
	cfg := DefaultConfig(MoDe)
	cfg.Missing = MissingIgnore
	loss, err := Loss(ev, cfg)
	require.NoError(t, err)
	others := ev
	others.Masses = [][]float64{ev.Masses[0], ev.Masses[2]}
	want, err := Loss(others, cfg)
	require.NoError(t, err)
	assert.Equal(t, want, loss)

	far := Variable{MassRange: [2]float64{1e6, 2e6}}
	cfg.Variables = []Variable{far, far, far}
	_, err = Loss(ev, cfg)
	assert.ErrorIs(t, err, ErrNoEvents)
	assert.ErrorContains(t, err, "has any variable of mass inside its range")

	cfg = DefaultConfig(MoDe)
	_, err = Loss(ev, cfg)
	assert.ErrorIs(t, err, ErrNotFinite)
	assert.ErrorContains(t, err, "variable 1 of mass: mass[0] = NaN")
}

// A list of variables without entries says as much as none.
func TestNoVariables(t *testing.T) {
	ev := severalVariables[float64](1000, false, 0)
	for _, joint := range []bool{false, true} {
		cfg := DefaultConfig(MoDe)
		cfg.Joint = joint
		want, err := Loss(ev, cfg)
		require.NoError(t, err)
		cfg.Variables = []Variable{}
		loss, err := Loss(ev, cfg)
		require.NoError(t, err)
		assert.Equal(t, want, loss)
	}
}

// What is asked of one variable is not answered for several.
func TestTablesOfSeveralVariables(t *testing.T) {
	ev := severalVariables[float64](100, false, 0)
	_, err := Edges(ev, DefaultConfig(MoDe))
	assert.ErrorContains(t, err, "mass has 3 variables, and each has its own bins: ask for one at a time")
	_, err = MomentsAt([]float64{0.5}, ev, DefaultConfig(MoDe))
	assert.ErrorContains(t, err, "ask for one at a time")
	cfg := DefaultConfig(MoDe)
	cfg.Basis = BSpline
	_, err = MomentsAt([]float64{0.5}, manyEvents[float64](1000, false), cfg)
	assert.ErrorContains(t, err, "basis = bspline has no moments")
}

// Results do not depend on the number of threads, to the last bit.
func TestVariablesThreads(t *testing.T) {
	for _, joint := range []bool{false, true} {
		cfg := DefaultConfig(MoDe)
		cfg.Missing, cfg.Order, cfg.Joint = MissingIgnore, 2, joint
		checkThreads(t, severalVariables[float32](100_000, true, 0.1), cfg, "variables")
	}
}

// A bin for each value is that of edges between the values.
func TestValues(t *testing.T) {
	ev := manyEvents[float64](5000, true)
	for i := range ev.Mass {
		ev.Mass[i] = 2010 + math.Floor(10*math.Mod(float64(i)*0.618, 1))
	}
	cfg := DefaultConfig(MoDe)
	cfg.Order, cfg.Binning = 1, Values
	got, want := make([]float64, 5000), make([]float64, 5000)
	loss, err := LossAndGrad(got, ev, cfg)
	require.NoError(t, err)
	cfg.Binning, cfg.Edges = GivenEdges, []float64{2010, 2010.5, 2011.5, 2012.5, 2013.5, 2014.5, 2015.5, 2016.5, 2017.5, 2018.5, 2019}
	same, err := LossAndGrad(want, ev, cfg)
	require.NoError(t, err)
	assert.Equal(t, same, loss)
	assert.Equal(t, want, got)

	cfg = DefaultConfig(MoDe)
	cfg.Binning = Values
	_, err = Loss(manyEvents[float64](5000, false), cfg)
	assert.ErrorContains(t, err, "binning = values makes a bin of each distinct mass, and there are more than 4096")
}

// B-splines reproduce polynomials up to their degree: without knots the loss is that of the order.
func TestSplines(t *testing.T) {
	ev := manyEvents[float64](20_000, true)
	outside := DefaultConfig(MoDe)
	outside.Basis, outside.Knots = BSpline, []float64{1e6}
	_, err := Loss(ev, outside)
	assert.ErrorIs(t, err, ErrBin)
	assert.ErrorContains(t, err, "knots[0] = 1e+06 does not lie inside the mass range [")
	outside.MassRange = [2]float64{0, 500}
	assert.ErrorContains(t, outside.Validate(), "knots[0] = 1e+06 does not lie inside the mass range [0, 500]")
	for degree := range MaxSplineDegree + 1 {
		cfg := DefaultConfig(MoDe)
		cfg.Basis, cfg.Degree = BSpline, degree
		got, want := make([]float64, 20_000), make([]float64, 20_000)
		loss, err := LossAndGrad(got, ev, cfg)
		require.NoError(t, err)
		cfg = DefaultConfig(MoDe)
		cfg.Order = degree
		same, err := LossAndGrad(want, ev, cfg)
		require.NoError(t, err)
		assert.InDelta(t, same, loss, 1e-12)
		requireAlike(t, want, got, 1e-9)
	}
}
