// Package moments turns the CDFs of the bins into moments and moments back into CDFs: the fit of the functions of the mass
// that cost nothing, and the bounds on its moments.
package moments

import "github.com/libmode/libmode/core/internal/config"

// used returns the moments from..to-1 whose own values matter: c_1 for a penalty, c_0 and c_1 for max_slope, and all for
// monotonic. Without these, J depends on the product P A alone.
func used(c *config.Config) (from, to int) {
	switch {
	case c.Monotonic:
		return 0, c.Order + 1
	case c.Bounded():
		return 0, 2
	case c.SlopePenalty > 0:
		return 1, 2
	}
	return 0, 0
}
