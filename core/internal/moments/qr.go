package moments

import (
	"math"

	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// QR is a decomposition Q R of columns.
type QR struct {
	Size, Rows int
	Q          []float64 // column by column
	R          []float64 // R[m*Size+l], m <= l
	Rank       int       // how many columns of Q are not 0
}

// NewQR overwrites columns with Q, by modified Gram-Schmidt. A column counts as dependent, and is 0 in Q, if at most this part of it
// is left without the columns before it.
func NewQR(columns []float64, size int, part float64, arena *par.Arena) *QR {
	qr := &QR{Size: size, Rows: len(columns) / size, Q: columns, R: par.Make[float64](arena, size*size)}
	for l := range size {
		column := qr.Column(l)
		length := floats.Norm(column, 2)
		norm := qr.takeOut(column, l)
		if !(norm > part*length) || math.IsInf(1/norm, 0) {
			clear(column)
			continue
		}
		floats.Scale(1/norm, column)
		qr.R[l*size+l] = norm
		qr.Rank++
	}
	return qr
}

// Column returns a column of Q.
func (qr *QR) Column(l int) []float64 { return qr.Q[l*qr.Rows : (l+1)*qr.Rows] }

// takeOut makes a column orthogonal to the first l columns of Q, adds the overlaps to column l of R if R has one, and returns the
// norm of the rest. Rounding leaves a part of the overlaps, so it repeats while the norm falls by half or more.
func (qr *QR) takeOut(column []float64, l int) (norm float64) {
	norm = floats.Norm(column, 2)
	for last := math.Inf(1); norm < last/2; norm = floats.Norm(column, 2) {
		last = norm
		for m := range l {
			overlap := floats.Dot(qr.Column(m), column)
			floats.AddScaled(column, -overlap, qr.Column(m))
			if l < qr.Size {
				qr.R[m*qr.Size+l] += overlap
			}
		}
	}
	return norm
}
