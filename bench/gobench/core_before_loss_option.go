//go:build before_loss_option

package main

import "github.com/libmode/libmode/core"

// lossOf returns what computes a loss, and its defaults, in a core where each loss was a
// function of its own. bench/against.py compiles this file with commits of that time.
func lossOf[T core.Float](name string) (lossFunc[T], core.Config) {
	losses := map[string]lossFunc[T]{
		"mode": core.LossAndGrad[T], "disco": core.DisCoAndGrad[T], "flatness": core.FlatnessAndGrad[T],
	}
	return losses[name], core.DefaultConfig()
}
