// One sort, two losses: go run ./examples/go/prepared
package main

import (
	"fmt"
	"log"

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
	if err != nil {
		log.Fatal(err)
	}
	for ; options.Order < 2; options.Order++ {
		loss, err := prepared.LossAndGrad(nil, options)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("order %d: loss %.6e\n", options.Order, loss)
	}
}
