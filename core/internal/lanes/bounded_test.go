package lanes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// crossed are random crossings of events in a few bins, small and large steps among them. The first stays, and of the
// others a share is taken back.
func crossed(n int, weigh func(*rand.Rand) float64, taken float64) (bo Bounded, bi Bias, bins []uint32, weights, stays []float64) {
	rng := rand.New(rand.NewPCG(uint64(n), 8))
	const nb = 5
	gram := new([9]float64)
	bo = Bounded{Rows: make([]BoundedRow, nb), C: [4]float64{0.5, 0.1, 0.2}, Penalty: 0.3, BaseFloor: 1e-12, Floor: 1e-12}
	bi = Bias{Rows: make([]BiasRow, nb), Gram: gram}
	for b := range bo.Rows {
		p, a := [3]float64(numbers(rng, 3)), [3]float64(numbers(rng, 3))
		unit := 1e-3 / float64(b+1)
		bo.Rows[b] = BoundedRow{[4]float64{unit * a[0], unit * a[1], unit * a[2], unit}, [4]float64{p[0], p[1], p[2], 0.3}}
		for l := range 3 {
			bo.Q[l] += 0.3 * p[l]
			for m := range 3 {
				gram[3*l+m] += p[l] * p[m]
			}
		}
	}
	for b, row := range bo.Rows {
		a := [3]float64{row.A[0] / row.A[3], row.A[1] / row.A[3], row.A[2] / row.A[3]}
		bi.Rows[b].Set(row.P[:3], a[:], gram, bo.Penalty, 1)
		bi.Sums.Add(0.01, &bi.Rows[b])
	}
	bins, weights, stays = make([]uint32, n), make([]float64, n), make([]float64, n)
	for i := range bins {
		bins[i], weights[i] = rng.Uint32N(nb), weigh(rng)
		if i == 0 || rng.Float64() >= taken {
			stays[i] = 1
		}
	}
	return bo, bi, bins, weights, stays
}

var weighings = map[string]func(*rand.Rand) float64{
	"equal":   func(*rand.Rand) float64 { return 1 },
	"signed":  func(rng *rand.Rand) float64 { return rng.NormFloat64() },
	"unequal": func(rng *rand.Rand) float64 { return math.Exp(2 * rng.NormFloat64()) },
}

// crossBounded takes a block through all loops.
func crossBounded(bo *Bounded, bi *Bias, bins []uint32, weights, stays []float64) ([]Group, int) {
	groups := make([]Group, len(bins)/4)
	end := bo.Follow(groups, bins, weights, stays)
	Squash(groups, 1, bo.Offset, 0.4)
	Squash(groups, 2, 0, 1.0/3)
	Change(groups, bi.Gram)
	for i := range groups {
		groups[i].V = groups[i].R
	}
	bi.Cross(groups, bins)
	return groups, end
}

// Crossing events where moments are bounded has the same bits with vectors and without, and is what
// the formulas say, of events that stay and of those that do not.
func TestCrossBounded(t *testing.T) {
	for name, weigh := range weighings {
		for _, n := range []int{4, 8, 64, 512} {
			for _, taken := range []float64{0, 0.3, 0.9} {
				var groups []Group
				bothWays(t, func() any {
					bo, bi, bins, weights, stays := crossed(n, weigh, taken)
					var end int
					groups, end = crossBounded(&bo, &bi, bins, weights, stays)
					return []any{groups, end, bo.Rows, bo.C[:3], bo.Q[:3], bi}
				})
				bo, _, bins, weights, stays := crossed(n, weigh, taken)
				c, value := [3]float64(bo.C[:]), [3]float64{}
				for i, b := range bins {
					m, j := &groups[i/4].Moments, i%4
					with := c
					for l := range 3 {
						with[l] += weights[i] * bo.Rows[b].A[l]
					}
					t1 := 0.4 * math.Abs(with[0])
					c1 := t1 * math.Tanh(with[1]/t1)
					t2 := math.Abs(c1) / 3
					next := [3]float64{with[0], c1, t2 * math.Tanh(with[2]/t2)}
					for l := range 3 {
						assert.InDelta(t, next[l], m[l].Value[j], 1e-13, "%s, %d of %d", name, i, n)
						if i > 0 {
							assert.InDelta(t, next[l]-value[l], m[l].Change[j], 1e-13, "%s, %d of %d", name, i, n)
						}
					}
					slope := math.Cosh(with[1] / t1)
					assert.InDelta(t, 1/(slope*slope), m[1].Slope[j], 1e-13)
					byBase := 0.4 * math.Copysign(1, with[0]) * (math.Tanh(with[1]/t1) - with[1]/t1/(slope*slope))
					assert.InDelta(t, byBase, m[1].ByBase[j], 1e-13)
					if stays[i] != 0 {
						c, value = with, next
					}
				}
			}
		}
	}
}

// An event that is taken back leaves nothing behind: without it, what is said of all others is the same.
func TestTakenBack(t *testing.T) {
	for name, weigh := range weighings {
		bothWays(t, func() any {
			bo, bi, bins, weights, stays := crossed(512, weigh, 0.4)
			groups, _ := crossBounded(&bo, &bi, bins, weights, stays)
			var binsOf []uint32
			var weightsOf, change, changeOf []float64
			for i, stay := range stays {
				if stay != 0 {
					binsOf, weightsOf, change = append(binsOf, bins[i]), append(weightsOf, weights[i]), append(change, groups[i/4].D[i%4])
				}
			}
			whole := len(binsOf) &^ 3
			bo, bi, _, _, stays = crossed(512, weigh, 0)
			groups, _ = crossBounded(&bo, &bi, binsOf[:whole], weightsOf[:whole], stays[:whole])
			for i := range whole {
				changeOf = append(changeOf, groups[i/4].D[i%4])
			}
			assert.InDeltaSlice(t, changeOf, change[:whole], 0, name)
			return change
		})
	}
}

// Follow stops with the group in which c_1 or c_0 is too small.
func TestFollowStops(t *testing.T) {
	for at := range 32 {
		for l := range 2 {
			bothWays(t, func() any {
				bo := Bounded{Rows: make([]BoundedRow, 2), C: [4]float64{1, 1}, Floor: 1e-9, BaseFloor: 1e-9}
				bo.Rows[1].A[l] = -1
				bins, weights := make([]uint32, 32), make([]float64, 32)
				bins[at], weights[at] = 1, 1
				end := bo.Follow(make([]Group, 8), bins, weights, slices.Repeat([]float64{1}, 32))
				require.Equal(t, at, end)
				return end
			})
		}
	}
}

// Steps that are many digits smaller than c~ are as exact as large ones.
func TestSquashSmallSteps(t *testing.T) {
	for _, u := range []float64{1e-5, 0.3, 2, 15, 200, 400} {
		for _, step := range []float64{1e-15, 1e-9, 1e-4} {
			bothWays(t, func() any {
				g := Group{Stays: Four{1, 1, 1, 1}}
				for j := range 4 {
					g.Moments[0].Value[j], g.Moments[1].Value[j] = 1, u+float64(j)*step
					g.Moments[1].Change[j] = step
				}
				groups := []Group{g}
				Squash(groups, 1, 0, 1)
				cosh := math.Cosh(min(u, 300))
				for j := 1; j < 4; j++ {
					want := step / (cosh * cosh)
					if u <= 300 {
						require.InEpsilon(t, want*(1-2*math.Tanh(u)*step*(float64(j)-0.5)), groups[0].Moments[1].Change[j], 1e-6)
					} else {
						require.Less(t, groups[0].Moments[1].Change[j], 1e-100)
					}
				}
				return groups[0].Moments
			})
		}
	}
}

func TestTanhSech(t *testing.T) {
	for u := -400.0; u < 400; u += 0.37 {
		tanh, sech := TanhSech(u)
		assert.InEpsilon(t, math.Tanh(u), tanh, 5e-16)
		assert.InEpsilon(t, 1/math.Cosh(max(-steepest, min(u, steepest))), sech, 2e-15)
	}
}
