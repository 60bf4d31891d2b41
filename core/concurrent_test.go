package core

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Many calls at a time, of all kinds and sizes, each return what they return alone, while the limit of threads changes.
// ./build.sh test-full runs it with Go's race detector.
func TestConcurrentCalls(t *testing.T) {
	defer SetThreads(0)
	type call struct {
		ev   Events[float32]
		cfg  Config
		loss float64
		grad []float32
	}
	var all []call
	for _, n := range []int{100, 5_000, 40_000} { // of few events, of one goroutine, and of several
		for _, change := range []func(*Config){
			func(c *Config) { c.Order = 1 },
			func(c *Config) { c.Order, c.MaxSlope, c.Monotonic = 2, 0.5, true },
		} {
			one := call{categorize[float32](n, []int64{0, 1}, false, true).Events, DefaultConfig(), 0, make([]float32, n)}
			change(&one.cfg)
			var err error
			one.loss, err = LossAndGrad(one.grad, one.ev, one.cfg)
			require.NoError(t, err)
			all = append(all, one)
		}
	}
	var together sync.WaitGroup
	for k := range 64 {
		together.Add(1)
		go func() {
			defer together.Done()
			for j := range 4 {
				SetThreads((k + j) % 5)
				c := &all[(5*k+j)%len(all)]
				grad := make([]float32, len(c.grad))
				loss, err := LossAndGrad(grad, c.ev, c.cfg)
				assert.Equal(t, fmt.Sprint(c.loss, nil), fmt.Sprint(loss, err))
				assert.True(t, slices.Equal(grad, c.grad))
			}
		}()
	}
	together.Wait()
}
