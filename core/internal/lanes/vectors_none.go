//go:build !amd64 || purego

package lanes

// Vectors reports that this build has no vector instructions.
func Vectors(bool) bool { return false }
