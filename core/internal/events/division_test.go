package events

import (
	"math"
	"testing"

	"github.com/libmode/libmode/core/internal/par"
	"github.com/stretchr/testify/require"
)

// requireFound requires that the places of labels among the wanted ones are these.
func requireFound[L Label](t *testing.T, labels []L, wanted []int32, want ...uint32) {
	t.Helper()
	found := make([]uint32, len(labels))
	LabelsOf(labels).find(found, 0, wanted)
	require.Equal(t, want, found, "%T", labels)
	LabelsOf(labels).find(found[:1], 1, wanted)
	require.Equal(t, want[1], found[0])
}

// A label is one of the wanted ones if the two are equal as numbers, whatever the type.
func TestLabelsAreNumbers(t *testing.T) {
	const no = uint32(notWanted)
	for _, wanted := range [][]int32{{1}, {1, -7}, {1, 1000}} {
		second := no
		if len(wanted) > 1 && wanted[1] == -7 {
			second = 1
		}
		requireFound(t, []int8{0, 1, -7}, wanted, no, 0, second)
		requireFound(t, []uint8{0, 1, 255}, wanted, no, 0, no)
		requireFound(t, []bool{false, true, false}, wanted, no, 0, no)
		requireFound(t, []int32{0, 1, -7}, wanted, no, 0, second)
		requireFound(t, []int64{1 << 32, 1, 1<<32 + 1}, wanted, no, 0, no)
		requireFound(t, []float32{1.5, 1, -7}, wanted, no, 0, second)
		requireFound(t, []float64{math.NaN(), 1, 1e300}, wanted, no, 0, no)
		requireFound(t, []float64{-inf, 1, inf, 5e-324, 1 << 32, 1<<32 + 1, 1 << 63, -1 << 63}, wanted, no, 0, no, no, no, no, no, no)
	}
	requireFound(t, []int8{0, 1, 44}, []int32{300}, no, no, no) // 44 is 300 in 8 bits
	requireFound(t, []int8{0, 1, 44}, []int32{1, 300}, no, 0, no)
	requireFound(t, []uint8{0, 1, 249}, []int32{-7}, no, no, no)
	requireFound(t, []float32{0, 1 << 24}, []int32{1<<24 + 1}, no, no) // no float32 is 2^24 + 1
	requireFound(t, []float32{0, 1 << 24}, []int32{1<<24 + 1, 1 << 24}, no, 1)
	requireFound(t, []float32{0, 1 << 31}, []int32{math.MaxInt32}, no, no)
	requireFound(t, []float32{0, 1 << 31}, []int32{math.MinInt32}, no, no)
	require.Nil(t, LabelsOf[int8](nil))
	require.True(t, LabelsOf([]int64{1}).isWhole() && !LabelsOf([]float32{1}).isWhole() && LabelsOf([]bool{true}).isWhole())
}

// A label alone has the factor 1, whatever its weights. A category whose share is not positive is an error.
func TestFactors(t *testing.T) {
	sc := par.Take()
	defer sc.Give()
	ev := Events[float64]{Score: []float64{1, 2, 3, 4}, Mass: []float64{1, 2, 3, 4}, Weight: []float64{-1, -2, -3, 1}}
	ev.Label = LabelsOf([]int32{5, 5, 5, 6})
	subs, err := Divide(ev, []int32{5, 6}, sc)
	require.NoError(t, err)
	require.NoError(t, SetFactors(subs, ev.Weight))
	require.Equal(t, []float64{1, 1}, []float64{subs[0].Factor, subs[1].Factor})
	ev.Weight = []float64{-1, 2, 3, 1}
	ev.Category = LabelsOf([]int8{1, 2, 2, 2})
	subs, err = Divide(ev, []int32{5, 6}, sc)
	require.NoError(t, err)
	require.ErrorContains(t, SetFactors(subs, ev.Weight), "events with background_label = 5 of category = 1: their share of the sum of weights is -0.25")
	ev.Weight[1] = math.NaN()
	subs, err = Divide(ev, []int32{5, 6}, sc)
	require.NoError(t, err)
	require.ErrorContains(t, SetFactors(subs, ev.Weight), "events with background_label = 5 of category = 2: weight[1] = NaN")
	_, err = Divide(ev, []int32{5, 9}, sc)
	require.ErrorContains(t, err, "none of the 4 values of label equals background_label = 9")
	ev.Category = LabelsOf([]float64{1, 2, 3, 4})
	_, err = Divide(ev, []int32{5}, sc)
	require.ErrorContains(t, err, "category has floating-point numbers")
	_, err = Divide(Events[float64]{}, nil, sc)
	require.ErrorContains(t, err, "no event selected: mass is empty")
}

// Derivatives that are not wanted stay nil in all that is done with them.
func TestDerivatives(t *testing.T) {
	sc := par.Take()
	defer sc.Give()
	d := Derivatives[float32]{Hess: []float32{1, 2, 3, 4}}
	require.NoError(t, d.CheckLengths(4))
	require.ErrorContains(t, d.CheckLengths(5), "hess has length 4, but score has length 5")
	own := d.ForEvents(3, &sc.Arena)
	require.Nil(t, own.Grad)
	require.Len(t, own.Hess, 3)
	for k, su := range []Subset{{Index: []uint32{3}, Factor: 1}, {Index: []uint32{0}, Factor: -0.5}} {
		d.Scatter(Derivatives[float32]{Hess: []float32{float32(7 + k)}}, &su, sc)
	}
	require.Equal(t, []float32{-4, 2, 3, 7}, d.Hess)
	require.NoError(t, d.Check(sc))
	d.Hess[2] = float32(math.Inf(-1))
	require.ErrorContains(t, d.Check(sc), "hess[2] overflows its type")
	d.Clear(sc)
	require.Equal(t, Derivatives[float32]{Hess: []float32{0, 0, 0, 0}}, d)
	require.Nil(t, d.Grad)
}

// Cells are in order of the values, from the first to the last, and values outside of what they span are in the cells at the ends.
func TestCells(t *testing.T) {
	values := make([]float64, 20_000)
	for i := range values {
		values[i] = float64(i) / 20_000
	}
	values[77], values[10_007] = -1e9, 1e9 // outliers do not widen the cells
	cells := NewCells(values, math.Inf(-1), math.Inf(1), 64, 1./16)
	require.Equal(t, 64, cells.Count())
	require.Equal(t, []uint32{0, 63}, []uint32{cells.Of(-1e9), cells.Of(1e9)})
	counts := make([]int, 64)
	for i := range 20_000 {
		x := float64(i) / 20_000
		require.LessOrEqual(t, cells.Of(x), cells.Of(x+1e-3))
		counts[cells.Of(x)]++
	}
	for _, count := range counts[6:58] {
		require.InDelta(t, 20_000/64*1.05, count, 60)
	}
	equal := NewCells([]float64{3, 3}, math.Inf(-1), math.Inf(1), 64, 0)
	require.Zero(t, equal.Of(3))
	require.Equal(t, []int{64, 64, 128, 1024}, []int{powerOfTwo(1, 64, 1024), powerOfTwo(64, 64, 1024), powerOfTwo(65, 64, 1024), powerOfTwo(5000, 64, 1024)})
}
