// One sort, two losses: go run ./examples/go/prepared
package main

import (
	"fmt"

	"github.com/libmode/libmode/core"
)

func main() {
	const n = 100_000
	events, options := core.Events[float64]{}, core.DefaultConfig()
	for i := range n { // background whose score grows linearly with the mass
		events.Mass = append(events.Mass, float64(i))
		events.Score = append(events.Score, float64(i*7919%n+i)/(2*n))
	}
	prepared, err := core.Prepare(events, options) // bins and sorts
	for loss := 0.0; err == nil && options.Order < 2; options.Order++ {
		loss, err = prepared.LossAndGrad(nil, options)
		fmt.Printf("order %d: loss %.6e\n", options.Order, loss)
	}
	if err != nil {
		panic(err)
	}
}
