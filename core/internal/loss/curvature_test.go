package loss

import (
	"math"
	"testing"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/sorted"
	"github.com/stretchr/testify/require"
)

// Where windows do not reach far, each strip but the last still has a quarter of the usual weight.
func TestStripsOfFarScores(t *testing.T) {
	sc := par.Take()
	defer sc.Give()
	const n, count = 400, 10
	ev := events.Events[float64]{}
	for i := range n {
		ev.Score, ev.Mass = append(ev.Score, math.Exp(float64(i)/5)), append(ev.Mass, float64(i))
	}
	unlimited := [2]float64{math.Inf(-1), math.Inf(1)}
	sel, err := events.Select(ev, nil, nil, events.Limits{Mass: unlimited, Score: unlimited}, sc)
	require.NoError(t, err)
	_, err = bins.New(sel, &bins.Options{Asked: 1}, sc)
	require.NoError(t, err)
	next := 0
	for _, s := range newStrips(&walk{Records: sorted.Sort(sel, 1, sc), to: math.Exp(n / 5)}, count, 0.5, &sc.Arena) {
		require.Equal(t, next, s.start)
		next = s.end
		require.True(t, s.end-s.start >= n/count/4-1 || s.end == n, s)
		require.LessOrEqual(t, s.end-s.start, n/count, s)
	}
	require.Equal(t, n, next)
}
