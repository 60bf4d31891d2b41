package core

import "github.com/libmode/libmode/core/internal/lanes"

// tanhAndSlope returns tanh u and 1 - tanh^2 u, each to a few units in its last place, the same on every
// processor.
func tanhAndSlope(u float64) (tanh, slope float64) {
	tanh, sech := lanes.TanhSech(u)
	return tanh, sech * sech
}
