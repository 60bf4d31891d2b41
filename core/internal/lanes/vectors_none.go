//go:build !(goexperiment.simd && amd64 && go1.26 && !go1.27)

package lanes

func useVectors(bool) bool { return false }
