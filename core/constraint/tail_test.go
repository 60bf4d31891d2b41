package constraint

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/libmode/libmode/core/internal/par"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// v is linear in the logit of the rank between the thresholds, and constant outside. It is limited.
func TestLevelsBetweenThresholds(t *testing.T) {
	row := make([]float64, thresholds)
	for k := range row {
		row[k] = 9*math.Sin(float64(7*k)) + 0.1
	}
	at := func(y float64) float64 {
		var multiple [1]float64
		setMultiples(multiple[:], row, []float64{1}, []float64{1 / (1 + math.Exp(-y))}, []uint8{0})
		if multiple[0] > 1 {
			return math.Log(multiple[0])
		}
		return multiple[0] - 1
	}
	of := func(v float64) float64 { return math.Min(mostLevel, math.Max(-mostLevel, v)) }
	last := row[thresholds-1]
	for y, v := range map[float64]float64{-30: row[0], -1e-6: row[0], highest: last, highest + 0.1: last, 30: last} {
		require.InEpsilon(t, of(v), at(y), 1e-6, "y = %v", y)
	}
	for k := range thresholds - 1 {
		y := spacing * (float64(k) + 0.25)
		require.InEpsilon(t, of(0.75*row[k]+0.25*row[k+1]), at(y), 1e-6, "y = %v", y)
	}
}

// In large batches the shares and the step of a batch are at their limits.
func TestTailOfLargeBatches(t *testing.T) {
	const n = 0.9 * inRecent * eventsOfABatch
	p, le := new(part), lessonOf(n)
	take := func(batch, r float64) {
		le.tail[3], p.batches = r, batch
		p.average(le, math.Inf(1))
		p.learnTail(le, 0, new(par.Arena))
	}
	take(1, 0.5)
	significant := p.significance(24, 0)[0][3]
	require.InDelta(t, 1, significant, 1e-2)
	require.Equal(t, []float64{mostStep * (0.5 * significant), 0.5, 0.5, n}, []float64{p.level[0][3], p.recent[0][3], p.mean[0][3], p.known})
	for batch := 2.; batch <= 2*inRecent; batch++ {
		take(batch, 0.5)
	}
	require.InDelta(t, 0.5, p.recent[0][3], 1e-12)
	take(2*inRecent+1, -0.5)
	require.InDelta(t, 0.5-0.9, p.recent[0][3], 1e-12)
	require.InDelta(t, 0.5-1./inRecent, p.mean[0][3], 1e-12)
	require.Zero(t, floats.Norm(p.level[0][4:], 1)+floats.Norm(p.level[1][:], 1)+math.Abs(p.level[0][2]))
	// More events than the average of recent batches has: the last batch alone.
	le = lessonOf(2 * inRecent * eventsOfABatch)
	le.tail[3], p.batches = -0.5, 200
	p.average(le, math.Inf(1))
	require.Equal(t, []float64{-0.5, -0.5}, []float64{p.now[0][3], p.recent[0][3]})
}

// lessonOf returns what n events of equal weights teach, without a residual.
func lessonOf(n float64) *lesson {
	size := ofMasses[1].functions * thresholds
	return &lesson{basis: &ofMasses[1], tail: make([]float64, size), allowed: make([]float64, size), events: n, effective: n, moved: n}
}

// v is at most mostLevel in all cells of the masses, at each threshold for itself.
func TestTailIsLimited(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for variables := 1; variables <= 3; variables++ {
		ba := &ofMasses[variables]
		sc := par.Take()
		p, level := new(part), make([]float64, 0)
		for l := range ba.functions {
			for k := range thresholds {
				p.level[l][k] = rng.NormFloat64() * math.Exp(float64(k)/2-4)
			}
			level = append(level, p.level[l][:]...)
		}
		before := product(ba.values, level, thresholds, &sc.Arena)
		p.limit(ba, &sc.Arena)
		level = level[:0]
		for l := range ba.functions {
			level = append(level, p.level[l][:]...)
		}
		after := product(ba.values, level, thresholds, &sc.Arena)
		limited := 0
		for k := range thresholds {
			column := func(of []float64) (found []float64) {
				for c := range ba.cells {
					found = append(found, of[c*thresholds+k])
				}
				return found
			}
			largest := floats.Norm(column(before), math.Inf(1))
			if largest > mostLevel {
				limited++
			}
			want := column(before)
			floats.Scale(math.Min(1, mostLevel/largest), want)
			require.InDeltaSlice(t, want, column(after), 1e-12)
		}
		require.True(t, limited > 0 && limited < thresholds, limited)
		sc.Give()
	}
}

// docs/how-it-works.md has a table of the numbers of the law.
func TestNumbersOfTheLawAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/how-it-works.md")
	require.NoError(t, err)
	for _, row := range []string{
		fmt.Sprintf("| %v | times the residual of the batch", proportional),
		fmt.Sprintf("| %v | times the residual, what a batch of %v background events adds to the sum", integral, eventsOfABatch),
		fmt.Sprintf("| %v batches | the averages of the state", 1/rate),
		fmt.Sprintf("| %v | effective events, which each of %v ranges of scores needs", inRange, thresholds),
		fmt.Sprintf("| %v cells | of a rank", mostCellsOfRank),
		fmt.Sprintf("| %v and %v | cosines of the rank of the score and of the mass", functionsOfScore, functionsOfMass),
		fmt.Sprintf("| %v thresholds | at equal steps of log(q/(1 - q)) from 0 to %v", thresholds, highest),
		fmt.Sprintf("| 1/%v | times the residual, what a batch of %v events adds to v, at most %v", math.Round(1/step), eventsOfABatch, mostStep),
		fmt.Sprintf("| %v batches | after which the steps of v are half as large", slowAfter),
		fmt.Sprintf("| %v batches | the average that acts at once, at most %v", inNow, mostAtOnce),
		fmt.Sprintf("| %v batches | the average for `convergence`", inRecent),
		fmt.Sprintf("| %v batches | the average that tells what is significant, of at least %v batches", inMean, inRecent),
		fmt.Sprintf("| %v | times the variance, the noise that the square of the average must be above", doubt),
		fmt.Sprintf("| %v | how much of v a step forgets where nothing is significant", leakOfTail),
		fmt.Sprintf("| %v | the largest size of v", mostLevel),
		fmt.Sprintf("| %v | times the excess over a bound", urgent),
	} {
		require.True(t, strings.Contains(string(text), row), "no row %q", row)
	}
	require.Equal(t, []int{1, 24, 25, 27}, []int{1, ofMasses[1].functions, ofMasses[2].functions, ofMasses[3].functions})
}
