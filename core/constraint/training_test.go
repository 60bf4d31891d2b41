package constraint_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libmode/libmode/core"
	"github.com/libmode/libmode/core/constraint"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// tailToy is a classifier by table: an event has a mass, the logit of another feature x, and a score that is x plus a number for
// the cell of mass and x of the event. Gradient descent on the cross entropy moves the numbers. Signal peaks in mass, so that the
// classifier sculpts the background.
type tailToy struct {
	rng   *rand.Rand
	table [10][12]float64 // cells of mass, and of x from -3 to 3
}

func (toy *tailToy) cell(mass, x float64) (int, int) {
	return int(mass * 10), int(math.Min(11, math.Max(0, 2*x+6)))
}

func (toy *tailToy) draw(n int, signal bool) (mass, x []float64) {
	for range n {
		m, feature := toy.rng.Float64(), toy.rng.NormFloat64()
		if signal {
			m, feature = math.Min(0.999, math.Max(0, 0.55+0.05*toy.rng.NormFloat64())), feature+2
		}
		mass, x = append(mass, m), append(x, feature)
	}
	return mass, x
}

// logit returns the logit of an event.
func (toy *tailToy) logit(mass, x float64) float64 {
	m, f := toy.cell(mass, x)
	return 2*x + toy.table[m][f]
}

// train does so many steps with batches of n background and n signal events.
func (toy *tailToy) train(t *testing.T, steps, n int, state []float64) {
	var ev core.Events[float64]
	label, push, multiplier, slope := make([]int32, 2*n), make([]float64, 2*n), make([]float64, 2*n), make([]float64, 2*n)
	for i := n; i < 2*n; i++ {
		label[i] = 1
	}
	ev.Label = core.LabelsOf(label)
	cfg := core.DefaultConfig()
	gradient := make([]float64, 2*n)
	ev.Score = make([]float64, 2*n)
	for step := range steps {
		background, of := toy.draw(n, false)
		signal, ofSignal := toy.draw(n, true)
		ev.Mass = append(background, signal...)
		x := append(of, ofSignal...)
		for i, m := range ev.Mass {
			ev.Score[i] = 1 / (1 + math.Exp(-toy.logit(m, x[i])))
			gradient[i] = (ev.Score[i] - float64(label[i])) / float64(2*n)
		}
		if state != nil {
			found, err := constraint.Direction(push, multiplier, slope, ev, cfg, constraint.Steering{State: state, Logits: true})
			require.NoError(t, err)
			size := found.Size * floats.Norm(gradient[:n], 2)
			for i := range gradient {
				gradient[i] = multiplier[i]*gradient[i] + size*push[i]
			}
		}
		rate := 0.1 * math.Min(1, 2-2*float64(step)/float64(steps))
		var sums, counts [10][12]float64
		for i, g := range gradient {
			m, f := toy.cell(ev.Mass[i], x[i])
			sums[m][f] += g * float64(2*n)
			counts[m][f]++
		}
		for m := range sums {
			for f, sum := range sums[m] {
				toy.table[m][f] -= rate * sum / math.Max(1, counts[m][f])
			}
		}
	}
}

// excess returns the background efficiency at the mass of the signal over the efficiency elsewhere, where a cut keeps this part
// of the background.
func (toy *tailToy) excess(part float64) float64 {
	mass, x := toy.draw(400_000, false)
	logits := make([]float64, len(mass))
	for i, m := range mass {
		logits[i] = toy.logit(m, x[i])
	}
	sorted := slices.Sorted(slices.Values(logits))
	cut := sorted[int(float64(len(sorted))*(1-part))]
	var passed, all [2]float64
	for i, m := range mass {
		k := 0
		if m >= 0.5 && m < 0.6 {
			k = 1
		}
		all[k]++
		if logits[i] >= cut {
			passed[k]++
		}
	}
	return passed[1] / all[1] / (passed[0] / all[0])
}

// A tight cut keeps as much background at the mass of the signal as elsewhere, though the classifier alone sculpts a peak.
func TestDirectionFlattensTheTail(t *testing.T) {
	alone := tailToy{rng: rand.New(rand.NewPCG(201, 202))}
	alone.train(t, 1000, 1000, nil)
	require.Greater(t, alone.excess(0.005), 10.)
	toy := tailToy{rng: rand.New(rand.NewPCG(201, 202))}
	toy.train(t, 1000, 1000, make([]float64, constraint.StateSize(1)))
	require.InDelta(t, 1, toy.excess(0.1), 0.2)
	require.InDelta(t, 1, toy.excess(0.005), 0.5) // the push alone leaves 3.4
}
