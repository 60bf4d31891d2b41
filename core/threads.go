package core

import "github.com/libmode/libmode/core/internal/par"

// SetThreads limits the threads that one call may use. Zero or less restores
// the default, all that the process may run on. Results do not depend on it.
// A limit above 1024 is 1024.
func SetThreads(n int) { par.SetThreads(n) }

// Threads returns the number of threads that one call may use.
func Threads() int { return par.Threads() }
