package core

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// categorized is events with a category each and, maybe, a label.
type categorized[T Float] struct {
	Events[T]
	categories []int64
	labels     []int32 // nil: none
}

// categorize draws events in random order, which have each of these categories and, if asked for, each of
// three labels about equally often.
func categorize[T Float](n int, categories []int64, weighted, labeled bool) categorized[T] {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(len(categories))))
	cd := categorized[T]{Events: spreadEvents[T](n, weighted, 0.1), categories: make([]int64, n)}
	if labeled {
		cd.labels = make([]int32, n)
		cd.Label = LabelsOf(cd.labels)
	}
	for i, k := range rng.Perm(n) {
		cd.categories[i] = categories[k%len(categories)]
		if labeled {
			cd.labels[i] = int32(k / len(categories) % 3)
		}
		if weighted && len(categories) > 2 {
			cd.Weight[i] = T(0.5 + math.Abs(float64(cd.Weight[i]))) // for sums that are positive in each bin
		}
	}
	cd.Category = LabelsOf(cd.categories)
	return cd
}

// places returns where the events of each category stand, of one label.
func (cd *categorized[T]) places(label int32) map[int64][]int {
	places := map[int64][]int{}
	for i, category := range cd.categories {
		if cd.labels == nil || cd.labels[i] == label {
			places[category] = append(places[category], i)
		}
	}
	return places
}

// alone returns the events at these places, without labels and categories.
func alone[T Float](ev Events[T], places []int) Events[T] {
	var of Events[T]
	for _, i := range places {
		of.Score, of.Mass = append(of.Score, ev.Score[i]), append(of.Mass, ev.Mass[i])
		if ev.Weight != nil {
			of.Weight = append(of.Weight, ev.Weight[i])
		}
	}
	return of
}

// sum returns the loss and the gradient by calls with the events of each category of each label alone.
func (cd *categorized[T]) sum(t *testing.T, cfg Config) (total float64, grad []float64) {
	grad = make([]float64, len(cd.Score))
	labels := cfg.BackgroundLabel
	if cd.labels == nil {
		labels = []int32{0}
	}
	for _, label := range labels {
		of, sums, all := cd.places(label), map[int64]float64{}, 0.0
		for category, places := range of {
			for _, i := range places {
				w := 1.0
				if cd.Weight != nil {
					w = float64(cd.Weight[i])
				}
				sums[category] += w
				all += w
			}
		}
		for category, places := range of {
			part := make([]T, len(places))
			loss, err := LossAndGrad(part, alone(cd.Events, places), cfg)
			require.NoError(t, err, category)
			total += loss * sums[category] / all
			for k, i := range places {
				grad[i] = float64(part[k]) * sums[category] / all
			}
		}
	}
	return total, grad
}

// manyCategories returns so many, near each other around 0 or far apart.
func manyCategories(count int, step int64) []int64 {
	categories := make([]int64, count)
	for k := range categories {
		categories[k] = step * int64(k-count/2)
	}
	return categories
}

var (
	categoryLists = map[string][]int64{
		"one": {2017}, "two": {-1, 1}, "extremes": {math.MinInt64, math.MaxInt64, 0},
		"many": manyCategories(1_000, 1), "many far apart": manyCategories(1_000, 1<<53+1),
	}
	categoryOptions = map[string]func(*Config){
		"default":    func(c *Config) { c.Bins, c.Order = 3, 1 },
		"plain":      func(c *Config) { c.Bins, c.Biased = 3, true },
		"own bins":   func(c *Config) { c.ScoreRange = unbounded() },
		"mass range": func(c *Config) { c.Bins, c.MassRange = 2, [2]float64{50, 400} },
	}
)

// The loss is the sum of the losses of the categories alone, times their shares of the weights, and so is its gradient.
func TestCategoriesAreSummed(t *testing.T) {
	for name, categories := range categoryLists {
		for options, change := range categoryOptions {
			for _, of := range []struct {
				weighted bool
				labels   []int32
			}{{false, nil}, {true, []int32{2, 0}}} {
				t.Run(fmt.Sprint(name, " ", options, " ", of), func(t *testing.T) {
					cfg := DefaultConfig()
					change(&cfg)
					if of.labels != nil {
						cfg.BackgroundLabel = of.labels
					}
					n := 3_000 + 45*len(categories)
					checkSummed[float32](t, categorize[float32](n, categories, of.weighted, of.labels != nil), cfg, 1e-6)
					checkSummed[float64](t, categorize[float64](n, categories, of.weighted, of.labels != nil), cfg, 1e-12)
				})
			}
		}
	}
}

func checkSummed[T Float](t *testing.T, cd categorized[T], cfg Config, tol float64) {
	t.Helper()
	total, want := cd.sum(t, cfg)
	grad := make([]T, len(want))
	loss, err := LossAndGrad(grad, cd.Events, cfg)
	require.NoError(t, err)
	require.InDelta(t, total, loss, 1e-10*math.Abs(total))
	requireClose(t, want, convert[float64](grad), tol)
}
