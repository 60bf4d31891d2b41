package core

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/libmode/libmode/core/constraint"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// fuzzer makes options and events of the bytes that go test -fuzz changes; it reads 0 where they end.
type fuzzer struct {
	data []byte
}

func (f *fuzzer) next() int {
	if len(f.data) == 0 {
		return 0
	}
	b := f.data[0]
	f.data = f.data[1:]
	return int(b)
}

// in returns a number below n.
func (f *fuzzer) in(n int) int { return f.next() % n }

// one returns whether something that is rare happens.
func (f *fuzzer) one() bool { return f.in(8) == 1 }

// oneOf returns one of a list.
func oneOf[T any](f *fuzzer, of ...T) T { return of[f.in(len(of))] }

// wild numbers are those at which something changes: signs, ends of types, what is no number.
var wild = []float64{
	0, 1, 0.5, -1, math.Copysign(0, -1), 1e-300, -1e-300, math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat32, 1e-12,
	1e12, 1e38, 3e38, 1e300, math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 2, 100,
}

// number returns one of the wild ones, or a tame one from 0 to 1.
func (f *fuzzer) number() float64 {
	k := f.next()
	if k < len(wild) {
		return wild[k]
	}
	return float64(k) / 255
}

func (f *fuzzer) numbers() []float64 {
	list := make([]float64, f.in(6))
	for i := range list {
		list[i] = f.number() + float64(i)
	}
	return list
}

// config sets some of the options, to values which need not be allowed.
func (f *fuzzer) config() Config {
	cfg := DefaultConfig()
	cfg.Bins = f.in(12)
	for range f.in(6) {
		k := f.in(len(options) + 1)
		if k == len(options) {
			cfg.Bins, cfg.Variables = 0, make([]Variable, f.in(4))
			for k := range cfg.Variables {
				cfg.Variables[k] = Variable{Bins: f.in(9), MassRange: unbounded()}
			}
			continue
		}
		switch field := options[k].field(&cfg).(type) {
		case *int:
			*field = f.in(20) - 2
		case *bool:
			*field = f.one()
		case *float64:
			*field = f.number()
		case *[2]float64:
			*field = oneOf(f, unbounded(), [2]float64{0, 1}, [2]float64{f.number(), f.number()})
		case *[]float64:
			*field = f.numbers()
		case *[]int32:
			*field = []int32{int32(f.in(3)), int32(f.in(4))}[:1+f.in(2)]
		}
	}
	return cfg
}

// mostDrawn events at most are in a call, which bounds the time of a fuzzer that looks for slow ones.
const mostDrawn = 512

// drawEvents returns some, repeated with small changes, so that there are enough of them for what is for many.
func drawEvents[T Float](f *fuzzer) Events[T] {
	tame, repeats := f.in(3) > 0, oneOf(f, 1, 1, 2, 5, 40)
	variables := oneOf(f, 1, 1, 1, 2, 3)
	weighted, labeled, categorized := f.in(2) == 0, f.in(3) == 0, f.in(5) == 0
	ev := Events[T]{Masses: make([][]T, variables)}
	var label, category []int32
	draw := func() float64 {
		if tame {
			return float64(f.next()) / 255
		}
		return f.number()
	}
	count := 0
	for ; len(f.data) > 0 && count < min(200, mostDrawn/repeats); count++ {
		ev.Score = append(ev.Score, T(draw()))
		for k := range ev.Masses {
			ev.Masses[k] = append(ev.Masses[k], T(draw()))
		}
		if weighted {
			ev.Weight = append(ev.Weight, T(draw()-oneOf(f, 0.0, 0, 0, 0.5)))
		}
		if labeled {
			label = append(label, int32(f.in(3)))
		}
		if categorized {
			category = append(category, int32(f.in(3)))
		}
	}
	for k := 1; k < repeats; k++ {
		for i := range count {
			ev.Score = append(ev.Score, ev.Score[i]*T(1-float64(k)/1024))
			for v, masses := range ev.Masses {
				ev.Masses[v] = append(masses, masses[i]*T(1-float64(k)/512))
			}
		}
	}
	if weighted {
		ev.Weight = slices.Repeat(ev.Weight, repeats)
	}
	if labeled {
		ev.Label = LabelsOf(slices.Repeat(label, repeats))
	}
	if categorized {
		ev.Category = LabelsOf(slices.Repeat(category, repeats))
	}
	if variables == 1 && f.in(2) == 0 {
		ev.Mass, ev.Masses = ev.Masses[0], nil
	}
	return ev
}

var sentinels = []error{
	ErrOption, ErrLength, ErrNotFinite, ErrScoreRange, ErrNoEvents, ErrBin, ErrUndefined, ErrOverflow,
}

// requireSentence checks that an error is an error of the package, and a sentence.
func requireSentence(t *testing.T, err error) {
	t.Helper()
	for _, sentinel := range sentinels {
		if errors.Is(err, sentinel) {
			require.NotContains(t, err.Error(), "%!")
			require.NotContains(t, err.Error(), "panic")
			for _, ofPython := range []string{"None", "True", "False", "=\"", "='"} {
				require.NotContains(t, err.Error(), ofPython)
			}
			require.NotContains(t, err.Error(), "\n")
			require.Greater(t, len(strings.Fields(err.Error())), 3)
			return
		}
	}
	require.Failf(t, "not an error of the package", "%v", err)
}

// checkAnything calls what the package has with any events and options: every number that comes back is
// finite, and different ways to the same number agree.
func checkAnything[T Float](t *testing.T, ev Events[T], cfg Config, smoothing float64) {
	n := len(ev.Score)
	grad, again, hess := make([]T, n), make([]T, n), make([]T, n)
	loss, err := LossAndGrad(grad, ev, cfg)
	alone, aloneErr := Loss(ev, cfg)
	if err != nil {
		requireSentence(t, err)
		// The gradient may be beyond the type where the loss is not.
		require.True(t, errors.Is(err, ErrOverflow) || aloneErr != nil, "the loss alone has no error, but the gradient %v", err)
	} else {
		require.NoError(t, aloneErr)
		require.True(t, finite(loss), "loss %v", loss)
		require.Equal(t, math.Float64bits(loss), math.Float64bits(alone))
		for i, g := range grad {
			require.True(t, finite(float64(g)), "gradient %v of event %d", g, i)
		}
		found, err := Evaluate(again, ev, cfg)
		if err == nil {
			known := finite(found.Bias)
			require.True(t, (known || cfg.Biased && found.Bias != found.Bias) && finite(found.Events))
			if !known {
				found.Bias = 0
			}
			require.InDelta(t, loss, found.Loss, 1e-9*(1+math.Abs(loss)+math.Abs(found.Bias)))
		} else {
			requireSentence(t, err)
		}
	}
	if _, err := Curvature(again, hess, smoothing, ev, cfg); err != nil {
		requireSentence(t, err)
	} else {
		for i, h := range hess {
			require.True(t, finite(float64(h)) && h >= 0, "curvature %v of event %d", h, i)
		}
	}
	checkDirection(t, ev, cfg)
	if edges, err := Edges(ev, cfg); err != nil {
		requireSentence(t, err)
	} else {
		for k := range edges {
			require.True(t, finite(edges[k]) && (k == 0 || edges[k] > edges[k-1]), "edges %v", edges)
		}
	}
	if table, err := MomentsAt([]float64{0, 0.3, 1}, ev, cfg); err != nil {
		requireSentence(t, err)
	} else {
		for _, rows := range [][][]float64{table.CDF, table.Moments, table.Bounded} {
			for _, row := range rows {
				for _, v := range row {
					require.True(t, finite(v), "moments %v", row)
				}
			}
		}
	}
}

// checkDirection pushes some batches with one state: rows and state are finite, and an error leaves the state.
func checkDirection[T Float](t *testing.T, ev Events[T], cfg Config) {
	divided := 0
	if ev.Category != nil {
		divided = 3
	}
	n, state := len(ev.Score), make([]float64, constraint.StateSize(len(cfg.BackgroundLabel), divided))
	rows := constraint.Rows[T]{Push: make([]T, n), Multiplier: make([]T, n), Slope: make([]T, n), Part: make([]T, n)}
	lesson, gradient := make([]float64, len(state)), make([]T, n)
	cfg.Categories = divided
	for k := range 3 {
		cfg.FromLogits = k == 1
		err := constraint.Direction(rows, lesson, ev, cfg, constraint.Steering{State: state})
		if err != nil {
			requireSentence(t, err)
			return
		}
		for i, u := range rows.Push {
			gradient[i] = T(k + 1)
			by := float64(rows.Multiplier[i])
			require.True(t, finite(float64(u)) && finite(float64(rows.Slope[i])) && by > 0 && by <= 150, "event %d: push %v, start %v", i, u, by)
		}
		require.NoError(t, constraint.Apply(gradient, gradient, rows, lesson, state, nil))
		for i, x := range state {
			require.True(t, finite(x), "state[%d] = %v", i, x)
		}
	}
}

// squaredCDF returns a bound of the squares in J: with negative weights F_b is not between 0 and 1.
func (br *brute) squaredCDF() float64 {
	size := make([]float64, br.nb)
	for i, w := range br.weight {
		size[br.bin[i]] += math.Abs(w) / br.sums[br.bin[i]]
	}
	return float64(br.nb) * max(1, floats.Dot(size, size))
}

// FuzzAnything calls the package with any events and options.
func FuzzAnything(f *testing.F) {
	for _, seed := range []string{
		"", "a", "some bytes", strings.Repeat("\x00", 40), strings.Repeat("\x7f\x80\x11", 100),
		"\x00\x05\x00\x01\x00\x01\x00" + strings.Repeat("\x33\x99\xee\x41\x87", 60),
		"\x00\x08\x02\x01\x03\x07\x01\x01\x04\x00\x00\x01" + strings.Repeat("\xaa\x12\x57\xc3\x6e\x91\x05", 50),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(callWithAnything)
}

// FuzzDefinition compares with the definition, over options that are allowed and tame events.
func FuzzDefinition(f *testing.F) {
	for _, seed := range []string{"", "\x01\x02\x03\x04\x05\x06\x07", strings.Repeat("MoDe", 30)} {
		f.Add([]byte(seed))
	}
	// The definition takes time in the square of the events: some 100 of them, 20 times faster than 600.
	f.Fuzz(func(t *testing.T, data []byte) { compareWithDefinition(t, data[:min(len(data), 256)], 1e-9) })
}

// The same with bytes at random. Few events in few bins, of few scores: between ties c_1 is often 0, or nearly, while c_2 and
// the variances are not.
func TestRandomBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	draw := func(least, most int) []byte {
		data := make([]byte, least+rng.IntN(most-least))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		return data
	}
	for range 10_000 {
		callWithAnything(t, draw(0, 400))
		compareWithDefinition(t, draw(24, 64), 1e-10)
	}
	for range 500 {
		compareWithDefinition(t, draw(200, 1500), 1e-10)
	}
}

func callWithAnything(t *testing.T, data []byte) {
	in := &fuzzer{data}
	cfg, single := in.config(), in.in(2) == 0
	smoothing := oneOf(in, 1.0/16, in.number())
	if single {
		checkAnything(t, drawEvents[float32](in), cfg, smoothing)
	} else {
		checkAnything(t, drawEvents[float64](in), cfg, smoothing)
	}
}

// compareWithDefinition allows an error of the loss, relative to it, and ten times that of the gradient.
func compareWithDefinition(t *testing.T, data []byte, relative float64) {
	in := &fuzzer{data}
	cfg := paperConfig()
	cfg.Order = in.in(6)
	cfg.Bins = cfg.Order + 1 + in.in(9)
	cfg.Binning = Binning(in.in(2))
	cfg.Quadrature = in.in(2) == 1
	cfg.Sum = in.in(2) == 1
	cfg.OfSelected = in.in(2) == 1
	cfg.Biased = in.in(2) != 0
	if cfg.Order >= 1 {
		cfg.MaxSlope = oneOf(in, math.Inf(1), 0.01, 0.5, 3)
		cfg.SlopePenalty = oneOf(in, 0.0, 0, 0.3)
	}
	cfg.Monotonic = cfg.Order >= 2 && in.in(2) == 0
	if in.in(2) == 0 {
		cfg.ScoreRange = unbounded()
	}
	steps := oneOf(in, 2.0, 10, 255)
	weighted := in.in(2) == 0
	var ev Events[float64]
	for len(in.data) > 0 && len(ev.Score) < 600 {
		ev.Score = append(ev.Score, math.Floor(float64(in.next())/255*steps)/steps)
		ev.Mass = append(ev.Mass, float64(in.next())/16)
		if weighted {
			ev.Weight = append(ev.Weight, oneOf(in, 1.0, 0.25, 3, -0.125, 0))
		}
	}
	got := make([]float64, len(ev.Score))
	value, err := LossAndGrad(got, ev, cfg)
	if err != nil {
		requireSentence(t, err)
		return
	}
	br := newBrute(t, ev, cfg)
	tiny := 1e-12 * br.squaredCDF()
	if !cfg.Quadrature {
		if br.apart < 1e-3 {
			return
		}
		tiny /= br.apart * br.apart // P, whose numbers are rounded, leaves so much of A open
	}
	want, grad := br.lossAndGrad()
	require.InDeltaf(t, want, value, relative*math.Abs(want)+tiny, "%+v", cfg)
	for i := range grad {
		require.InDeltaf(t, grad[i], got[i], 10*relative*floats.Norm(grad, math.Inf(1))+tiny, "event %d, %+v", i, cfg)
	}
}
