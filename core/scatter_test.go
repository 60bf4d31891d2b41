package core

import (
	"testing"

	"github.com/libmode/libmode/core/internal/walk"
	"github.com/stretchr/testify/require"
)

// The gradient of many events is the one of few, written another way, whatever the number of blocks.
func TestScatter(t *testing.T) {
	defer func(from int) { walk.ScatterFrom = from }(walk.ScatterFrom)
	for _, n := range []int{1<<16 - 1, 1 << 16, 1<<16 + 1, 150_000} {
		for _, weighted := range []bool{false, true} {
			for name, cfg := range map[string]Config{"default": DefaultConfig(MoDe), "paper": paperConfig()} {
				ev := spreadEvents[float32](n, weighted, 0.1)
				ev.Mass[7] = 40 // outside the range: its gradient stays 0
				cfg.MassRange = [2]float64{50, 1000}
				var grads [][]float32
				for _, walk.ScatterFrom = range []int{1 << 30, 1000} {
					grad := make([]float32, n)
					_, err := LossAndGrad(grad, ev, cfg)
					require.NoError(t, err, name)
					grads = append(grads, grad)
				}
				require.Equal(t, grads[0], grads[1], name)
			}
		}
	}
}
