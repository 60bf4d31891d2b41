package par

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// A limit without meaning costs no memory: 2^31 - 1 once asked for 16 GB.
func TestMoreThreadsThanAnyMachine(t *testing.T) {
	defer SetThreads(0)
	SetThreads(math.MaxInt32)
	require.Equal(t, MaxThreads, Threads())
}

// A panic in a goroutine reaches the caller, who can recover from it.
func TestParallelPanic(t *testing.T) {
	defer SetThreads(0)
	SetThreads(4)
	require.PanicsWithValue(t, "here", func() {
		new(Team).Run(100, func(part int) {
			if part == 57 {
				panic("here")
			}
		})
	})
}
