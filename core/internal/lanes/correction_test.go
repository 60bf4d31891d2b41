package lanes

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const testBins = 5

// block is crossings of events in a few bins, small and large steps among them.
type block struct {
	bins    []uint32
	weights []float64
	sums    Sums
	more    []Lane
	moments []Moment
	gram    []float64
	d       Lane
	bias    Bias
}

var weighings = map[string]func(*rand.Rand) float64{
	"equal":   func(*rand.Rand) float64 { return 1 },
	"signed":  func(rng *rand.Rand) float64 { return rng.NormFloat64() },
	"unequal": func(rng *rand.Rand) float64 { return math.Exp(2 * rng.NormFloat64()) },
}

func newBlock(n, size int, weigh func(*rand.Rand) float64) *block {
	rng := rand.New(rand.NewPCG(uint64(n), 8))
	bl := &block{gram: numbers(rng, size*size), moments: make([]Moment, size), more: make([]Lane, 100)}
	bl.sums.Now, bl.sums.Steps = [4]float64{0.5, 0.1, 0.2, 0.1}, new([4]Lane)
	for b := range testBins {
		row := [4]float64(numbers(rng, 4))
		for k := range row {
			row[k] *= 1e-3 / float64(b+1)
		}
		bl.sums.Rows = append(bl.sums.Rows, row)
	}
	for range n {
		bl.bins, bl.weights = append(bl.bins, rng.Uint32N(testBins)), append(bl.weights, weigh(rng))
	}
	rest := bl.more
	random := func() *Lane {
		lane := &rest[0]
		rest = rest[1:]
		copy(lane[:], numbers(rng, len(lane)))
		return lane
	}
	for l := range bl.moments {
		m := &bl.moments[l]
		m.C, m.Step = &bl.sums.After[l], &bl.sums.Steps[l]
		m.Z, m.StepZ = random(), random()
		switch l {
		case 0:
		case 1:
			m.Base, m.BaseStep, m.Limit = &bl.sums.After[0], &bl.sums.Steps[0], Limit{0.4, 0, 1e-12, 1e-12}
		default:
			m.Base, m.BaseStep, m.Limit = &bl.moments[1].Value, &bl.moments[1].Change, Limit{1.0 / 3, 0, 0, -1}
		}
	}
	bl.bias = Bias{Gram: bl.gram, X: make([][3]*Lane, size)}
	for l := range size {
		for range l + 1 {
			bl.bias.Y = append(bl.bias.Y, random())
		}
		bl.bias.X[l] = [3]*Lane{random(), random(), random()}
	}
	return bl
}

// cross takes the block through all loops.
func (bl *block) cross() {
	n := len(bl.bins)
	bl.sums.Follow(bl.bins, bl.weights)
	for l := 1; l < len(bl.moments); l++ {
		bl.moments[l].Squash(n)
	}
	Correct(&bl.d, bl.moments, bl.gram, n)
	bl.bias.Unbias(&bl.d, bl.moments, n)
	bl.bias.rows, bl.bias.ny = nil, nil
}

// Crossings have the same bits with vectors and without, and are what the formulas say.
func TestCorrection(t *testing.T) {
	for name, weigh := range weighings {
		for _, n := range []int{4, 8, 64, Steps} {
			for size := 2; size <= 4; size++ {
				var bl *block
				bothWays(t, func() any {
					bl = newBlock(n, size, weigh)
					bl.cross()
					return bl
				})
				fresh := newBlock(n, size, weigh)
				c := fresh.sums.Now
				var before [4]float64
				bias := 0.0
				for i, b := range bl.bins {
					for l := range size {
						c[l] += bl.weights[i] * bl.sums.Rows[b][l]
					}
					value, rows := c, [4][4]float64{} // and N
					for l := 1; l < size; l++ {
						base, of, li := value[0], 0, bl.moments[l].Limit
						if l > 1 {
							base, of = value[1], 1
						}
						limit := li.Factor * base
						u := c[l] / limit
						value[l] = limit * math.Tanh(u)
						own := 1 / math.Cosh(u) / math.Cosh(u)
						byBase := li.Factor * (math.Tanh(u) - u*own)
						if l > 1 {
							rows[l][0], rows[l][1] = byBase*rows[1][0], -byBase*(1-rows[1][1])
						} else {
							rows[l][of] = -byBase
						}
						rows[l][l] += 1 - own
						assert.InDelta(t, li.Bound(c[l], base), value[l], 1e-13)
					}
					var change float64
					now := 0.0
					for l := 1; l < size; l++ {
						m := &bl.moments[l]
						assert.InDelta(t, value[l], m.Value[i+1], 1e-13, "%s, %d of %d", name, i, n)
						if i > 0 {
							assert.InDelta(t, value[l]-before[l], m.Change[i+1], 1e-13, "%s, %d of %d", name, i, n)
						}
						change += m.Difference[i+1]*(m.Z[i]+m.Z[i+1]) + m.StepZ[i+1]*m.Sum[i+1]
						for k := 1; k < size; k++ {
							change += m.Difference[i+1] * bl.gram[l*size+k] * bl.moments[k].Sum[i+1]
						}
						for k, column := range []int{l, 0, 1} {
							if l > 1 || k < 2 {
								now += 2 * rows[l][column] * bl.bias.X[l][k][i+1]
							}
						}
						for k := 1; k < size; k++ {
							for p := range size {
								for q := range size {
									now += bl.gram[l*size+k] * rows[l][p] * bl.bias.at(p, q)[i+1] * rows[k][q]
								}
							}
						}
					}
					if i > 0 {
						assert.InDelta(t, change-(now-bias), bl.d[i+1], 1e-11*(1+math.Abs(now)), "%s, %d of %d", name, i, n)
					}
					before, bias = value, now
				}
			}
		}
	}
}

// Where c_1, or what its limit is relative to, is too small, so is the bound: it is 0 there, and its row of d c~/dc.
func TestBoundsThatAreZero(t *testing.T) {
	for at := range 8 {
		for l := range 2 {
			bothWays(t, func() any {
				bl := newBlock(8, 3, weighings["equal"])
				bl.sums.Now = [4]float64{1, 1, 1}
				bl.sums.Rows = make([][4]float64, testBins)
				bl.sums.Rows[1][l] = -1
				clear(bl.bins)
				bl.bins[at] = 1
				bl.cross()
				for i := range 8 {
					low := i >= at
					for k := 1; k < 3; k++ {
						m := &bl.moments[k]
						require.Equal(t, low, m.Value[i+1] == 0)
						require.Equal(t, low && (l == 0 || k == 2), m.T[i+1] == 0)
						require.False(t, low && i > at && m.Change[i+1] != 0)
						if i == at && i > 0 {
							require.Equal(t, -m.Value[i], m.Change[i+1])
						}
					}
				}
				return bl
			})
		}
	}
}

// A moment without a limit stays as it is, but for one that counts as 0.
func TestKeep(t *testing.T) {
	m := &Moment{C: new(Lane), Step: new(Lane), Limit: Limit{Floor: 1e-12}}
	copy(m.C[:], []float64{0, 0.1, 0.3, 1e-13, 0.2})
	copy(m.Step[:], []float64{0, 0.1, 0.25, -0.3, 0.2})
	m.Keep(4)
	assert.Equal(t, []float64{0.1, 0.3, 0, 0.2}, m.Value[1:5])
	assert.Equal(t, []float64{0.1, 0.25, -0.3, 0.2}, m.Change[1:5])
	assert.Equal(t, []float64{0, 0, 1e-13, 1e-13}, m.Sum[1:5])
	assert.Equal(t, [3]float64{}, m.row(2, nil, true))
}

// Steps that are many digits smaller than c~ are as exact as large ones.
func TestSquashSmallSteps(t *testing.T) {
	for _, u := range []float64{1e-5, 0.3, 2, 15, 200, 400} {
		for _, step := range []float64{1e-15, 1e-9, 1e-4} {
			bothWays(t, func() any {
				m := &Moment{C: new(Lane), Step: new(Lane), Base: new(Lane), BaseStep: new(Lane), Limit: Limit{Factor: 1}}
				for i := range 9 {
					m.Base[i], m.C[i], m.Step[i] = 1, u+float64(i)*step, step
				}
				m.Squash(4)
				cosh := math.Cosh(min(u, 300))
				for i := 2; i <= 4; i++ {
					want := step / (cosh * cosh)
					if u <= 300 {
						require.InEpsilon(t, want*(1-2*math.Tanh(u)*step*(float64(i)-0.5)), m.Change[i], 1e-6)
					} else {
						require.Less(t, m.Change[i], 1e-100)
					}
				}
				return m
			})
		}
	}
}
