// A logistic regression in Go whose selection does not follow the mass: go run ./examples/go
//
// The signal is a peak in mass, the background falls. The second of the two features gives the mass away: without
// MoDe it gets a weight. The chain rule takes the gradient of the core, which is by the scores, to the weights. Whether a
// search could use the scores of such a training, libmode report says (docs/report.md).
package main

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/libmode/libmode/core"
)

func main() {
	const n, steps = 20_000, 500
	rng := rand.New(rand.NewPCG(1, 2))
	feature, massLike, grad := make([]float64, n), make([]float64, n), make([]float64, n)
	label := make([]int32, n)
	events := core.Events[float64]{Score: make([]float64, n), Label: core.LabelsOf(label), Mass: make([]float64, n)}
	for i := range n {
		signal := i % 2
		label[i] = int32(signal)
		events.Mass[i] = 50 + 60*rng.ExpFloat64()
		if signal == 1 {
			events.Mass[i] = 120 + 10*rng.NormFloat64()
		}
		feature[i] = float64(signal) + rng.NormFloat64()
		massLike[i] = (events.Mass[i]-110)/60 + rng.NormFloat64()/2
	}

	options := core.DefaultConfig() // order 0: the score of background shall not depend on mass at all
	for _, strength := range []float64{0, 10} {
		var loss, a, b, c float64
		for range steps {
			for i := range n {
				events.Score[i] = 1 / (1 + math.Exp(-(a*feature[i] + b*massLike[i] + c)))
			}
			var err error
			if loss, err = core.LossAndGrad(grad, events, options); err != nil {
				log.Fatal(err) // names the argument, the value and the place
			}
			var byA, byB, byC float64 // of cross entropy + strength * MoDe
			for i, s := range events.Score {
				byLogit := (s-float64(label[i]))/n + strength*grad[i]*s*(1-s)
				byA += byLogit * feature[i]
				byB += byLogit * massLike[i]
				byC += byLogit
			}
			a, b, c = a-0.3*byA, b-0.3*byB, c-0.3*byC
		}
		fmt.Printf("strength %2g: MoDe %.4f, weight %.2f, of the feature that gives the mass away %.2f\n",
			strength, loss, a, b)
	}
}
