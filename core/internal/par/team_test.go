package par

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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
