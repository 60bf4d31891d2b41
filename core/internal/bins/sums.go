package bins

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// sums are sums over the events of each bin. A row has W, the sum of weights, T, the sum of their squares, and the sums of
// the weights times each function. The weights are in a common unit.
type sums struct {
	width int // of a row
	rows  []float64
}

func (s *sums) row(b int) []float64 { return s.rows[b*s.width : (b+1)*s.width] }

// sumBins returns the sums over the bins. It adds up events in blocks whose size does not depend on the number of threads,
// and then the blocks in their order.
func sumBins[T events.Float](sel *events.Selection[T], bins int, columns events.Columns, unit float64, sc *par.Scratch) *sums {
	total := &sums{width: (2 + columns.Count + 3) &^ 3}                      // four at a time; the terms after the last function are 0
	n, per, size := len(sel.Mass), (bins+1)*total.width, max(1<<14, 64*bins) // the last row is for events that take no part
	blocks, last := (n+size-1)/size, uint32(bins)
	total.rows = par.Make[float64](&sc.Arena, blocks*per)
	width := total.width
	sc.Team.Run(blocks, func(k int) {
		room := par.Room()
		defer room.Give()
		terms := make([][]float64, total.width)
		for l := range terms {
			terms[l] = par.Make[float64](&room.Arena, events.Block)
		}
		for i := range terms[0] { // without weights
			terms[0][i], terms[1][i] = 1, 1
		}
		for lo, end := size*k, min(n, size*(k+1)); lo < end; lo += events.Block {
			hi := min(lo+events.Block, end)
			for l := range terms {
				terms[l] = terms[l][:hi-lo]
			}
			columns.Fill(terms[2:2+columns.Count], lo)
			if sel.Weight != nil {
				weigh(terms, sel.Weight[lo:hi], unit)
			}
			for l := 0; l < total.width; l += 4 {
				sums := total.rows[k*per+l : (k+1)*per]
				first, second, third, fourth := terms[l][:hi-lo], terms[l+1][:hi-lo], terms[l+2][:hi-lo], terms[l+3][:hi-lo]
				for i, pair := range sel.Pairs[lo:hi] {
					row := (*[4]float64)(sums[int(min(pair&events.BinMask, last))*width:])
					row[0] += first[i]
					row[1] += second[i]
					row[2] += third[i]
					row[3] += fourth[i]
				}
			}
		}
	})
	for k := 1; k < blocks; k++ {
		floats.Add(total.rows[:per], total.rows[k*per:(k+1)*per])
	}
	return total
}

// weigh sets the terms of W and T to weights and their squares, and multiplies the other terms by the weights.
func weigh[T events.Float](terms [][]float64, weights []T, unit float64) {
	w, squares := terms[0][:len(weights)], terms[1][:len(weights)]
	for i, weight := range weights {
		w[i] = float64(weight) * unit
		squares[i] = w[i] * w[i]
	}
	for _, of := range terms[2:] {
		floats.Mul(of, w)
	}
}

// setMeans sets the means of the function 1 and of the others over the bins, (1/W_b) sum w f(x). It returns an error for the first
// bin whose sum of weights is not positive.
func (s *sums) setMeans(bs *Bins, columns events.Columns, unit float64, sc *par.Scratch) error {
	bs.Means = par.Make[float64](&sc.Arena, bs.Count()*(columns.Count+1))[:0]
	for b := range bs.Count() {
		row := s.row(b)
		if err := CheckSum(bs, b, row[0], unit); err != nil {
			return err
		}
		bs.Means = append(bs.Means, 1)
		for _, sum := range row[2 : 2+columns.Count] {
			bs.Means = append(bs.Means, sum/row[0])
		}
	}
	return nil
}

// CheckSum returns an error if the sum of weights of bin b is not positive or its inverse is infinite.
func CheckSum(bs *Bins, b int, sum, unit float64) error {
	if sum == 0 {
		return bs.Error(b, "has sum of weights 0: it is empty, or its weights cancel; "+
			"use fewer or wider bins, quantile bins or larger batches")
	}
	if !(sum > 0) || math.IsInf(sum, 1) || math.IsInf(1/sum, 1) {
		return bs.Error(b, "has sum of weights %v, which must be positive and finite: "+
			"use fewer or wider bins, quantile bins or larger batches", sum/unit)
	}
	return nil
}
