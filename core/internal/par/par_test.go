package par

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// A panic in a goroutine reaches the caller, who can recover from it.
func TestParallelPanic(t *testing.T) {
	defer SetThreads(0)
	SetThreads(4)
	require.PanicsWithValue(t, "here", func() {
		sc := Take()
		sc.Parts = 4
		sc.Run(100, func(part int) {
			if part == 57 {
				panic("here")
			}
		})
	})
}

// No array of an arena overlaps another one or starts off a multiple of 16 bytes. Released memory is used again, and cleared by Make.
// From the second call on, a call allocates nothing.
func TestArena(t *testing.T) {
	var arena Arena
	call := func() {
		for n := range 40 {
			numbers, flags := Make[float64](&arena, n), Make[bool](&arena, n)
			require.Equal(t, []int{n, n, -1, -1}, []int{len(numbers), len(flags), slices.IndexFunc(numbers, func(x float64) bool { return x != 0 }), slices.Index(flags, true)})
			if n > 0 {
				require.Zero(t, uintptr(unsafe.Pointer(&numbers[0]))%16+uintptr(unsafe.Pointer(&flags[0]))%16)
			}
			for i := range n {
				numbers[i], flags[i] = 1, true
			}
		}
	}
	for range 3 {
		call()
		arena.Release(0)
	}
	first := Unset[uint32](&arena, 5)
	mark := arena.Mark()
	require.Zero(t, testing.AllocsPerRun(3, func() {
		second := Unset[uint32](&arena, 100)
		second[0], first[4] = 7, 8
		arena.Release(mark)
	}))
	require.Equal(t, uint32(7), Unset[uint32](&arena, 1)[0])
}
