package bins

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
)

// Columns are functions of an event whose means over the bins are wanted, beside the function 1.
type Columns struct {
	Count int // of the functions
	// Fill sets the values of each function, a slice each, for the events from lo on. Nil: the functions are the first of x_1 and
	// x_1 x_2 of a mass m, with x_k = (m - Nodes[k-1]) Factor.
	Fill   func(values [][]float64, lo int)
	Nodes  [2]float64
	Factor float64
}

// sums are sums over the events of each bin. A row has W, the sum of weights, T, the sum of their squares, and the sums of
// the weights times each function. The weights are in a common unit.
type sums struct {
	width int // of a row
	rows  []float64
}

func (s *sums) row(b int) []float64 { return s.rows[b*s.width : (b+1)*s.width] }

// sumBins returns the sums over the bins. It adds up events in blocks whose size does not depend on the number of threads,
// and then the blocks in their order.
func sumBins[T events.Float](sel *events.Selection[T], bins int, columns *Columns, unit float64, sc *par.Scratch) *sums {
	total := &sums{width: 2 + columns.Count}
	if columns.Fill == nil {
		total.width = 4
	}
	n, per, size := len(sel.Mass), (bins+1)*total.width, max(1<<14, 64*bins) // the last row is for events that take no part
	blocks := (n + size - 1) / size
	total.rows = par.Make[float64](&sc.Arena, blocks*per)
	sc.Team.Run(blocks, func(k int) {
		own := par.Room()
		defer own.Give()
		rows, values := par.Unset[uint32](&own.Arena, events.Block), make([][]float64, columns.Count)
		for l := range values {
			values[l] = par.Unset[float64](&own.Arena, events.Block)
		}
		for lo, end := size*k, min(n, size*(k+1)); lo < end; lo += events.Block {
			addBlock(total.rows[k*per:(k+1)*per], total.width, rows, values, sel, lo, min(lo+events.Block, end), columns, unit)
		}
	})
	for k := 1; k < blocks; k++ {
		for i, more := range total.rows[k*per : (k+1)*per] {
			total.rows[i] += more
		}
	}
	for b := range bins {
		if row := total.row(b); columns.Fill == nil && sel.Weight == nil {
			row[1] = row[0]
		}
	}
	return total
}

// addBlock adds the events lo..hi-1. It overwrites rows and values.
func addBlock[T events.Float](sums []float64, width int, rows []uint32, values [][]float64, sel *events.Selection[T], lo, hi int, columns *Columns, unit float64) {
	n := hi - lo
	rows, last := rows[:n], uint32(len(sums)/width-1)
	for i, pair := range sel.Pairs[lo:hi] {
		rows[i] = min(pair&events.BinMask, last) * uint32(width) // NoPair has the last row
	}
	if columns.Fill == nil {
		addLow(sums, rows, sel, lo, columns, unit)
		return
	}
	for l := range values {
		values[l] = values[l][:n]
	}
	columns.Fill(values, lo)
	for i, at := range rows {
		w := 1.0
		if sel.Weight != nil {
			w = float64(sel.Weight[lo+i]) * unit
		}
		row := sums[at:][:width]
		row[0] += w
		row[1] += w * w
		for l, of := range values {
			row[2+l] += w * of[i]
		}
	}
}

// addLow adds the events from lo on to these rows.
func addLow[T events.Float](sums []float64, rows []uint32, sel *events.Selection[T], lo int, columns *Columns, unit float64) {
	first, second, factor := columns.Nodes[0], columns.Nodes[1], columns.Factor
	masses := sel.Mass[lo:][:len(rows)]
	if sel.Weight == nil { // the sums of the squares are those of the weights
		for i, at := range rows {
			m, row := float64(masses[i]), (*[4]float64)(sums[at:])
			x := (m - first) * factor
			row[0]++
			row[2] += x
			row[3] += x * ((m - second) * factor)
		}
		return
	}
	weights := sel.Weight[lo:][:len(rows)]
	for i, at := range rows {
		m, w, row := float64(masses[i]), float64(weights[i])*unit, (*[4]float64)(sums[at:])
		x := (m - first) * factor
		row[0] += w
		row[1] += w * w
		row[2] += w * x
		row[3] += w * x * ((m - second) * factor)
	}
}

// setMeans sets the means of the function 1 and of the others over the bins, (1/W_b) sum w f(x). It returns an error for the first
// bin whose sum of weights is not positive.
func (s *sums) setMeans(bs *Bins, columns *Columns, unit float64, sc *par.Scratch) error {
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
