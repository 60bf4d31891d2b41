//go:build !before_loss_option

package main

import (
	"log"

	"github.com/libmode/libmode/core"
)

// lossOf returns what computes a loss, and its defaults.
func lossOf[T core.Float](name string) (lossFunc[T], core.Config) {
	kinds := map[string]core.LossKind{"mode": core.MoDe, "disco": core.DisCo, "flatness": core.Flatness}
	kind, known := kinds[name]
	if !known {
		log.Fatalf("no loss %q", name)
	}
	return core.LossAndGrad[T], core.DefaultConfig(kind)
}
