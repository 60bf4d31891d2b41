package lanes

// Padding is how much longer the room of SortNear is than what it sorts.
const Padding = 36

// SortNear sorts the first words of room into dst, which has their number. They are nearly in order already. Words are from
// 2^52 to below 2^63 - 2^52: as numbers of type float64 they are finite, not 0, and in the same order.
//
// It is an insertion sort.
func SortNear(dst, room []uint64) {
	for i, r := range room[:len(dst)] {
		j := i
		for j > 0 && dst[j-1] > r {
			dst[j] = dst[j-1]
			j--
		}
		dst[j] = r
	}
}
