package par

// Grown returns a slice of length n over the memory of s where that is large
// enough. Its contents are not cleared.
func Grown[E any](s []E, n int) []E {
	if cap(s) < n {
		s = make([]E, n)
		adviseHuge(s)
	}
	return s[:n]
}
