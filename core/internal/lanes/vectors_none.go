//go:build !(goexperiment.simd && amd64)

package lanes

func useVectors(bool) bool { return false }
