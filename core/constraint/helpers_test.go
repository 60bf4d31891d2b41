package constraint_test

import (
	"math"

	"github.com/libmode/libmode/core"
)

var nan, inf = math.NaN(), math.Inf(1)

// binned returns options with a number of bins.
func binned(bins int) core.Config {
	cfg := core.DefaultConfig()
	cfg.Bins = bins
	return cfg
}

func finite(x float64) bool { return x-x == 0 }

// forThreads calls f with different numbers of threads, and several times, as goroutines do not always take turns alike.
func forThreads(f func(threads int)) {
	defer core.SetThreads(0)
	for _, threads := range []int{1, 2, 8} {
		core.SetThreads(threads)
		for range 10 {
			f(threads)
		}
	}
}
