//go:build !amd64 || purego

package lanes

func useVectors(bool) bool { return false }
