package moments

// legendre sets dst[l] = P_l(x) for l = 0..len(dst)-1 by Bonnet's recursion,
// (l+1) P_{l+1}(x) = (2l+1) x P_l(x) - l P_{l-1}(x).
func legendre(dst []float64, x float64) {
	dst[0] = 1
	if len(dst) > 1 {
		dst[1] = x
	}
	for l := 1; l+1 < len(dst); l++ {
		k := float64(l)
		dst[l+1] = ((2*k+1)*x*dst[l] - k*dst[l-1]) / (k + 1)
	}
}
