package order

// EndOfTie returns the end of the records from i on, and below hi, whose score
// is that of record i.
func (rs *Records) EndOfTie(i, hi int) int {
	end := i + 1
	for end < hi && rs.Tied(i, end) {
		end++
	}
	return end
}

// EndOfBlock returns where a block of about size records ends that begins at lo: all of one tie are
// in a block.
func (rs *Records) EndOfBlock(lo, hi, size int) int {
	if hi-lo <= size {
		return hi
	}
	at := lo + size
	for at > lo && rs.Tied(at-1, at) {
		at--
	}
	if at == lo {
		return rs.EndOfTie(lo, hi)
	}
	return at
}
