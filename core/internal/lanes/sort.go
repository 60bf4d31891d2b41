package lanes

var (
	sortNear = sortNearGo
	extremes = extremesGo
)

// Padding is by how much the room of SortNear is longer than what it sorts.
const Padding = 36

// SortNear sorts the first words of room, which are nearly in order already, into dst, of
// their number. Words are from 2^52 to below 2^63 - 2^52, so that as numbers of type float64
// they are in the same order, and neither 0 nor infinite.
func SortNear(dst, room []uint64) { sortNear(dst, room) }

// Extremes returns the lowest and the highest of such words.
func Extremes(words []uint64) (lowest, highest uint64) { return extremes(words) }

// sortNearGo is an insertion sort.
func sortNearGo(dst, room []uint64) {
	for i, r := range room[:len(dst)] {
		j := i
		for j > 0 && dst[j-1] > r {
			dst[j] = dst[j-1]
			j--
		}
		dst[j] = r
	}
}

func extremesGo(words []uint64) (lowest, highest uint64) {
	lowest, highest = words[0], words[0]
	for _, r := range words {
		lowest, highest = min(lowest, r), max(highest, r)
	}
	return lowest, highest
}
