package par

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Slices of an arena are zero, do not overlap and keep what is written to them, also when the
// arena grows; after Reset they come back from the same memory.
func TestArena(t *testing.T) {
	var a Arena
	for range 3 {
		a.Reset()
		var floats [][]float64
		var bytes [][]uint8
		for n := range 200 {
			floats, bytes = append(floats, Make[float64](&a, n)), append(bytes, Make[uint8](&a, n))
			for i := range n {
				assert.Zero(t, floats[n][i])
				assert.Zero(t, bytes[n][i])
				floats[n][i], bytes[n][i] = float64(n), uint8(n)
			}
		}
		for n := range 200 {
			assert.Len(t, floats[n], n)
			for i := range n {
				assert.Equal(t, float64(n), floats[n][i])
				assert.Equal(t, uint8(n), bytes[n][i])
			}
		}
	}
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		a.Reset()
		Make[int](&a, 1000)
	}))
}
