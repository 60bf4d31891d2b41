package core

import (
	"sync"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// boundedPath crosses events as boundedKernel does for order 2, a block of them at a time: first c
// and P'F after each event, which are running sums, and then all that follows from them, in loops
// over the events. Where c_1 or what max_slope is relative to counts as 0, the kernel crosses
// single events. In between, F_b are those of the rows.
type boundedPath[T Float] struct {
	*kernelPath[T]
	of   *boundedKernel // the kernel of kernelPath
	sums lanes.Bounded  // with 1/W_b, A_b, P_b and F_b of all bins
	bias lanes.Bias
	room *boundedRoom // within run
}

// boundedRoom is what a block is crossed in.
type boundedRoom struct {
	crossings
	groups []lanes.Group
}

var boundedRooms = sync.Pool{New: func() any { return new(boundedRoom) }}

// boundedBlock is a number of events of which all that is known of them stays near the processor.
const boundedBlock = 128

// leastMaxSlope is a max_slope above which no bound is too small for double precision.
const leastMaxSlope = 1e-100

func newBoundedPath[T Float](w *pathWalker[T]) path {
	k := newBoundedKernel(w.in)
	p := &boundedPath[T]{kernelPath: &kernelPath[T]{k, w}, of: k}
	bo := w.in.bound
	p.sums = lanes.Bounded{Rows: make([]lanes.BoundedRow, w.in.bins), Penalty: w.in.penalty, Floor: bo.slopeFloor, BaseFloor: -1}
	if bo.limited {
		p.sums.BaseFloor = roundingFloor
		if bo.slopeOf == Selected {
			p.sums.Offset = 1
		}
	}
	if va := w.in.variance; va != nil {
		p.bias = lanes.Bias{Rows: make([]lanes.BiasRow, w.in.bins), Gram: (*[9]float64)(w.in.basis.gram)}
		for b := range p.bias.Rows {
			factor := va.factor[b]
			if w.weights == nil {
				factor *= va.totals[b]
			}
			p.bias.Rows[b].Set(w.in.basis.rowP(b), w.in.basis.rowA(b), p.bias.Gram, w.in.penalty, factor)
		}
	}
	return p
}

func (p *boundedPath[T]) start(pt *point) float64 {
	basis := p.w.in.basis
	for b, unit := range p.w.in.unit {
		row, of, a := &p.sums.Rows[b], basis.rowP(b), basis.rowA(b)
		row.A = [4]float64{unit * a[0], unit * a[1], unit * a[2], unit}
		row.P = [4]float64{of[0], of[1], of[2], pt.cdf[b]}
	}
	return p.of.start(pt)
}

func (p *boundedPath[T]) cross(st step) float64 {
	d := p.kernelPath.cross(st)
	p.sums.Rows[st.bin].P[3] = p.w.at.cdf[st.bin]
	return d
}

// run crosses blocks. It stops before a tie that is larger than a block, and before an event
// after which c_1 or what max_slope is relative to counts as 0.
func (p *boundedPath[T]) run(st *state, i, hi int) int {
	from := i
	if i == hi || !p.follows() {
		return i
	}
	p.room = boundedRooms.Get().(*boundedRoom)
	defer boundedRooms.Put(p.room)
	for i < hi {
		next := p.w.endOfBlock(i, hi, boundedBlock)
		if next-i > boundedBlock {
			break
		}
		end := p.follow(i, next)
		if end > i {
			p.finish(st, i)
			i = end
		}
		if end < next {
			break
		}
	}
	if i > from && i < hi {
		p.restart()
	}
	return i
}

// follows sets the sums to those of the kernel, and reports whether neither c_1 nor what max_slope is relative to counts as 0.
func (p *boundedPath[T]) follows() bool {
	k := p.of
	p.sums.C, p.sums.Q = [4]float64(k.c[:4]), [4]float64(k.pf[:4])
	if k.bias != nil {
		k.bias.sums3(&p.bias.Sums)
	}
	return p.sums.High(k.c[0], k.c[1])
}

// changes crosses blocks of tied events, none of which stays. What the sums cannot follow the kernel crosses.
func (p *boundedPath[T]) changes(d []float64, lo int) {
	if !p.follows() {
		p.kernelPath.changes(d, lo)
		return
	}
	p.room = boundedRooms.Get().(*boundedRoom)
	defer boundedRooms.Put(p.room)
	for n := 0; len(d) > 0; d, lo = d[n:], lo+n {
		n = min(len(d), boundedBlock)
		setAlone(&p.room.crossings, p.w.walk, lo, lo+n)
		if p.crossGroups() < len(p.room.bins) {
			p.kernelPath.changes(d[:n], lo)
			continue
		}
		p.changeGroups()
		middle(d[:n], p.room.groups, 1)
	}
}

// restart moves the kernel to where the rows are.
func (p *boundedPath[T]) restart() {
	at := &p.w.at
	for b, unit := range p.w.in.unit {
		at.cdf[b] = p.sums.Rows[b].P[3]
		if p.w.in.variance != nil && p.w.weights == nil {
			at.squares[b] = at.cdf[b] * unit
		}
	}
	p.of.start(at)
}

// follow sets the groups to the crossings of the events lo..hi-1, or of fewer, up to one after which
// c_1 or what max_slope is relative to counts as 0, and returns the end of these.
func (p *boundedPath[T]) follow(lo, hi int) int {
	room := p.room
	for lo < hi {
		setCrossings(&room.crossings, p.w.walk, lo, hi)
		before := p.sums
		k := p.crossGroups()
		if k == len(room.bins) {
			break
		}
		p.sums = before
		for i, b := range room.bins[:k/4*4+4] {
			p.sums.Rows[b].P[3] -= room.groups[i/4].E[i%4] * room.stays[i]
		}
		hi = lo + room.eventOf(k)
	}
	return hi
}

// crossGroups sets the groups to the crossings, and returns the first that cannot be followed, or their number.
func (p *boundedPath[T]) crossGroups() int {
	room := p.room
	room.groups = par.Grown(room.groups, len(room.bins)/4)
	return p.sums.Follow(room.groups, room.bins, room.weights, room.stays)
}

// finish makes the gradient of the events from lo on, of which the groups are the crossings.
func (p *boundedPath[T]) finish(st *state, lo int) {
	in, room := p.w.in, p.room
	p.changeGroups()
	d := room.collect(room.groups)
	st.integral += lanes.Finish(d, room.scores, st.end, -in.scale)
	for _, tie := range room.ties {
		tie.settle(d, room.groups, -in.scale)
	}
	p.w.finish(lo, d)
}

// changeGroups finds by how much J changes in the crossings of the groups.
func (p *boundedPath[T]) changeGroups() {
	in, bo, groups := p.w.in, p.w.in.bound, p.room.groups
	if bo.limited {
		lanes.Squash(groups, 1, p.sums.Offset, bo.maxSlope)
	}
	if bo.monotonic {
		lanes.Squash(groups, 2, 0, bo.shares[2])
	}
	lanes.Change(groups, (*[9]float64)(in.basis.gram))
	if in.variance != nil {
		p.unbias()
	}
}

// unbias takes the bias from J.
func (p *boundedPath[T]) unbias() {
	groups, bo := p.room.groups, p.w.in.bound
	if !bo.limited {
		lanes.Keep(groups, 1)
	}
	if !bo.monotonic {
		lanes.Keep(groups, 2)
	}
	p.setVariances()
	p.bias.Cross(groups, p.room.bins[:4*len(groups)])
}

// setVariances sets V of the groups, but for a factor that is in the rows of the bias. A step e from f on
// changes V_b (variance.go) by
//
//	[square (1 - 2f - 2e) - 2 S_b e + e (2f + e) T_b] / (1 - 2 U_b/T_b + T_b)
//
// which without weights is e (1 - 2f - e) times a factor.
func (p *boundedPath[T]) setVariances() {
	room, groups := p.room, p.room.groups
	if p.w.weights == nil {
		for i := range groups {
			g := &groups[i]
			for j, e := range g.E {
				g.V[j] = e * (1 - 2*g.R[j])
			}
		}
		return
	}
	unit, totals, squares := p.w.in.unit, p.w.in.variance.totals, p.w.at.squares
	for k, b := range room.bins[:4*len(groups)] {
		g, j := &groups[k/4], k%4
		e, r := g.E[j], g.R[j]
		square := room.squares[k] * unit[b] * unit[b]
		g.V[j] = square*(1-2*r-e) - 2*e*(squares[b]-r*totals[b])
		squares[b] += square * room.stays[k]
	}
}

// sums3 sets a row to what the sums are in the terms of lanes.Bias.
func (bs *biasSums) sums3(row *lanes.BiasRow) {
	x, y, g := (*[9]float64)(bs.x), (*[9]float64)(bs.y), (*[9]float64)(bs.basis.gram)
	*row = lanes.BiasRow{
		{bs.plain + g[0]*y[0] - 2*x[0], g[1]*y[0] - x[3], g[1]*y[1] - x[4], g[2]*y[0] - x[6]},
		{g[2]*y[1] - x[7], g[2]*y[2] - x[8], y[0], y[1]},
		{y[4], y[2], y[5], y[8]},
	}
}
