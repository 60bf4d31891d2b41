package core

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// taken says how tests take both sides of a threshold.
type taken struct {
	events int    // a number of events: TestBothSidesOfNumbersOfEvents runs one less, as many, and one more
	ties   int    // a number of events of equal score: TestBothSidesOfNumbersOfTies
	bins   int    // a number of bins: TestBothSidesOfNumbersOfBins
	by     string // other tests, of this package or of the internal one that has the threshold
	none   string // why it has no sides: it decides nothing that a result shows
}

// thresholds are the numbers in the code that decide which way it goes: each constant but those of an enumeration, each
// variable that begins as a number, and each comparison with a number, min or max. Numbers up to 3 are left out, which
// every small case meets. A new one without an entry fails TestEveryThresholdIsTaken.
var thresholds = map[string]taken{
	// Numbers of events, of cells and of blocks.
	"bins.go: assignBins: size = 1 << 14":                                                    {events: 1 << 14},
	"bins.go: eventsPerBin = 8":                                                              {events: maxBins * eventsPerBin},
	"bins.go: maxBins = 32":                                                                  {events: maxBins * eventsPerBin},
	"bins.go: massCellsFor: max(n / 8, min(n, 1 << 13), 16 * bins)":                          {events: 1 << 13},
	"bins.go: massCellsFor: min(n, 1 << 13)":                                                 {events: 1 << 13},
	"bins.go: massCellsFor: powerOfTwo(max(n / 8, min(n, 1 << 13), 16 * bins), 64, 1 << 15)": {events: 1 << 13},
	"cells.go: cellsFor: max(1, len(values) / 1024)":                                         {events: 1 << 10},
	"cells.go: crowdedFrom = 1 << 12":                                                        {events: 1 << 12},
	"cells.go: evened: size = 1 << 12":                                                       {events: 1 << 12},
	"chunks.go: chunkSize: max(1 << 11, 64 * bins)":                                          {events: 1 << 11, bins: 32, ties: 1 << 12},
	"chunks.go: fewChunks = 16":                                                              {ties: 1 << 14},
	"crowded.go: crowdedCell = 1 << 15":                                                      {ties: 1 << 15},
	"crowded.go: crowdedShare = 64":                                                          {by: "TestCrowdedScores"},
	"equal_runs.go: manyInRuns = 16":                                                         {by: "TestQuantileEdges"},
	"equal_runs.go: mostRuns = 1 << 12":                                                      {by: "TestQuantileEdges"},
	"derivatives.go: checkedAtATime = 1 << 14":                                               {by: "TestGradientBeyondFloat32"},
	"derivatives.go: clearedAtATime = 1 << 16":                                               {by: "TestDerivativesAreCleared"},
	"quantile.go: countMasses: block = 1 << 11":                                              {events: 1 << 14},
	"inside.go: insideAtATime = 1 << 14":                                                     {by: "TestBothSidesOfJointBlocks"},
	"nested.go: nestedAtATime = 1 << 14":                                                     {by: "TestBothSidesOfJointBlocks"},
	"loss.go: sharedPart = 1 << 14":                                                          {by: "TestManyLabels TestLabelsAreSelected"},
	"means.go: sumBins: max(1 << 14, 64 * bins)":                                             {events: 1 << 14, bins: 256},
	"quantile.go: cellBlock = 16":                                                            {by: "TestQuantileEdges"},
	"quantile.go: fewMasses = 1 << 11":                                                       {events: 1 << 11},
	"records.go: fewRecords = 1 << 14":                                                       {events: 1 << 14},
	"records.go: fillBlock = 512":                                                            {events: 512},
	"records.go: scoreCellsFor: powerOfTwo(n / 1024, 1 << 8, 1 << 11)":                       {events: 1 << 15},
	"records.go: scoreCellsFor: powerOfTwo(n / 2, 1, 1 << 13)":                               {events: 1 << 14},
	"selection.go: checkBlock = 1 << 11":                                                     {events: 1 << 11},
	"internal/par/team.go: AloneCall = 1 << 15":                                              {events: 1 << 15},
	"internal/par/team.go: alonePart = 1 << 13":                                              {events: 1 << 15},
	"scatter.go: blockBits = 16":                                                             {by: "TestBothSidesOfAScatteredBlock"},
	"scatter.go: scatterFrom = 1 << 22":                                                      {by: "TestScatter TestBothSidesOfAScatteredBlock"},
	"disco_sums.go: massBlockBits = 11":                                                      {by: "TestBothSidesOfABlockOfDisCo"},
	"origins.go: grow: max(1 << 10, 4 * len(os.table))":                                      {by: "TestOrigins"},
	"internal/par/arena.go: Make: max(words, 2 * len(a.words), 1 << 10)":                     {by: "TestArena"},
	"internal/par/team.go: MaxThreads = 1 << 10":                                             {by: "TestMoreThreadsThanAnyMachine"},
	"internal/par/hugepages_linux.go: hugePage = 1 << 21":                                    {none: "pages of memory, which hold the same"},
	"internal/par/hugepages_linux.go: adviseHuge: madvHugepage = 14":                         {none: "a number of the system"},
	"internal/par/team.go: awake = 200 * time.Microsecond":                                   {none: "when helpers go"},

	// Ties and chunks of the walk.
	"bounded_fast.go: boundedBlock = 128": {ties: 128},
	"linear_fast.go: walkBlock = 512":     {ties: 512},

	// Numbers of bins, of cells of several variables, of labels.
	"bins.go: tableLimit = 1 << 15":                                     {by: "TestQuantileEdges TestGivenEdges"},
	"bins.go: enoughEvents = 4":                                         {by: "TestBothSidesOfEnoughEvents"},
	"curvature.go: mostCurvedBins = 4096":                               {by: "TestHessErrors TestBothSidesOfTheMostCurvedBins"},
	"curvature.go: rowsAtATime = 8":                                     {by: "TestHessOfKnownDensities"},
	"curvature.go: newCurvature: min(max(n / (4 * nb), 1), mostStrips)": {by: "TestHessOfFewEvents TestHessOfKnownDensities"},
	"strips.go: mostStrips = 64":                                        {by: "TestHessOfFewEvents TestHessOfKnownDensities"},
	"joint.go: mostJointBins = 8":                                       {by: "TestBothSidesOfMostJointBins"},
	"together.go: mostCells = 1 << massCellBits":                        {by: "TestBothSidesOfMostCells"},
	"values.go: maxValues = 1 << 12":                                    {by: "TestBothSidesOfMostValues"},
	"labels.go: newSlots: span < 1 << 16":                               {by: "TestBothSidesOfALabelTable"},
	"options.go: MaxOrder = 16":                                         {by: "TestValidate"},
	"options.go: MaxSplineDegree = 5":                                   {by: "TestBothSidesOfTheHighestDegrees"},

	// Values.
	"bound.go: isSmallStep: dt > -15 * t":                                                {by: "TestBoundAdvance TestBoundsNearSaturation"},
	"bound.go: saturated = 20":                                                           {by: "TestBoundsNearSaturation"},
	"bound.go: smallStep = 0.025":                                                        {by: "TestBoundAdvance"},
	"bounded_fast.go: leastMaxSlope = 1e-100":                                            {by: "TestBothSidesOfTheLeastMaxSlope"},
	"cells.go: evened: distinct >= look / 4":                                             {by: "TestQuantileEdges TestConcentratedScores"},
	"cells.go: evened: look = 256":                                                       {by: "TestQuantileEdges TestConcentratedScores"},
	"cells.go: evened: len(slices.Compact(slices.Clone(sample))) < look / 4":             {by: "TestQuantileEdges TestConcentratedScores"},
	"cells.go: newUnevenCells: coarse = 1 << 10":                                         {by: "TestQuantileEdges TestConcentratedScores"},
	"cells.go: newUnevenCells: powerOfTwo(2 * k, 4, 1 << 14)":                            {by: "TestQuantileEdges TestConcentratedScores"},
	"far.go: exactTo = 1e-9":                                                             {by: "TestWhatIsSaidOfFarMasses"},
	"far.go: knownTo = 1e-6":                                                             {by: "TestWhatIsSaidOfFarMasses"},
	"moments.go: farBelow = 1e-3":                                                        {by: "TestWhatIsSaidOfFarMasses"},
	"moments.go: project: polynomials < 1e-2":                                            {by: "TestColumnsThatDependOnEachOther"},
	"moments.go: differs: max(moments, shake / 8 * (rest / largest) * (rest / largest))": {by: "TestOneMassFarFromTheOthers"},
	"newton.go: newNewton: places = 1 << 6":                                              {none: "any events will do"},
	"newton.go: newNewton: size = 1 << 6":                                                {none: "any events will do"},
	"moments.go: shake = 0x1p-50":                                                        {by: "TestWhatIsSaidOfFarMasses"},
	"bounded_far.go: farFrom = 100":                                                      {by: "TestOneMassFarFromTheOthers"},
	"disco.go: variance: size > 0x1p-900":                                                {by: "TestDisCoErrors"},
	"linear_fast.go: newLower: pivot > 1e-10 * g":                                        {by: "TestProjection FuzzDefinition"},
	"moments.go: roundingFloor = 1e-12":                                                  {by: "TestBoundAdvance TestAgainstBruteForce"},
	"selection.go: unitOf: max(-1022, -exponent)":                                        {by: "TestQuadratureOfExtremeMasses TestSharesOfExtremeWeights"},
	"selection.go: unitOf: min(max(-1022, -exponent), 1023)":                             {by: "TestQuadratureOfExtremeMasses TestSharesOfExtremeWeights"},
	"variance.go: fewestEffective = 1.05":                                                {by: "TestBothSidesOfFewestEffective"},

	// Layouts and other numbers that are no thresholds.
	"curvature.go: newCurvature: max(n / (4 * nb), 1)":                                       {by: "TestHessOfFewEvents TestHessOfKnownDensities"},
	"cells.go: of: min(less(key, g.lo) >> (g.shift & 63), uint64(len(g.coarse) - 1))":        {none: "a shift that the compiler need not check"},
	"cells.go: of: min(uint64(c.first) + less(key, c.lo) >> (c.shift & 63), uint64(c.last))": {none: "a shift that the compiler need not check"},
	"curvature.go: DefaultSmoothing = 1.0 / 16":                                              {none: "a default"},
	"labels.go: noSlot = math.MaxUint32":                                                     {none: "a mark"},
	"means.go: noBin = noPair":                                                               {none: "a mark"},
	"origins.go: at: mixer = 0x9e3779b97f4a7c15":                                             {none: "mixes bits"},
	"parts.go: massCellBits = 16":                                                            {none: "a layout"},
	"parts.go: massCellMask = 1 << massCellBits - 1":                                         {none: "a layout"},
	"parts.go: noPair = math.MaxUint32":                                                      {none: "a mark"},
	"internal/radix/keys.go: signBit = 1 << 63":                                              {none: "a layout"},
	"internal/radix/record.go: markBit = 61":                                                 {none: "a layout"},
	"internal/radix/sort.go: digit = 11":                                                     {by: "TestSort"},
	"memory.go: bytesOf: eachBin = 1_500":                                                    {by: "TestMemory"},
	"memory.go: bytesOf: eachThread = 1 << 19":                                               {by: "TestMemory"},
	"memory.go: bytesOf: manyBins = 1 << 11":                                                 {by: "TestMemory"},
	"memory.go: largeCall = 64 << 20":                                                        {none: "a call that is let through has the same result"},

	// Sorts of records.
	"internal/radix/split.go: SplitPart = 1 << 15":                                                  {by: "TestSplit"},
	"internal/radix/split.go: Split: min(max(1, len(records) / SplitPart), 64)":                     {by: "TestSplit"},
	"internal/radix/split.go: splitBits = 11":                                                       {by: "TestSplit"},
	"internal/radix/record.go: NewLayout: la.keyShift <= 32":                                        {by: "TestWordsAreNumbers"},
	"internal/radix/record.go: NewLayout: la.BinShift < 32":                                         {by: "TestHalfRecordsHaveRoomForTheBin"},
	"internal/radix/record.go: NewLayout: high - low < 1 << 31 - 3 * lowestHalf":                    {by: "TestWordsAreNumbers"},
	"internal/radix/record.go: lowestHalf = 1 << 20":                                                {by: "TestWordsAreNumbers"},
	"internal/radix/sort.go: crowded = 48":                                                          {by: "TestSort"},
	"internal/radix/sort.go: nearBelow = 24":                                                        {by: "TestSort"},
	"internal/radix/sort.go: sortKeys: min(uint(bits.Len(uint(len(records)))), 14, top - keyShift)": {by: "TestSort"},
}

// thresholdsIn returns the keys of the thresholds of a package. Those of internal/lanes, the numbers that a vector holds,
// are left out: its own tests compare every remainder with plain Go.
func thresholdsIn(t *testing.T, folder string) (found []string) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for _, declared := range parsed.Decls {
			where := filepath.ToSlash(file) + ": "
			if function, ok := declared.(*ast.FuncDecl); ok {
				where += function.Name.Name + ": "
			}
			ast.Inspect(declared, func(node ast.Node) bool {
				switch node := node.(type) {
				case *ast.ValueSpec:
					for k, value := range node.Values {
						if isNumber(value) {
							found = append(found, where+node.Names[k].Name+" = "+types.ExprString(value))
						}
					}
				case *ast.BinaryExpr:
					compares := slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ}, node.Op)
					if compares && (hasNumber(node.X) || hasNumber(node.Y)) {
						found = append(found, where+types.ExprString(node))
					}
				case *ast.CallExpr:
					name, _ := node.Fun.(*ast.Ident)
					limits := name != nil && slices.Contains([]string{"min", "max", "powerOfTwo"}, name.Name)
					if limits && slices.ContainsFunc(node.Args, hasNumber) {
						found = append(found, where+types.ExprString(node))
					}
				}
				return true
			})
		}
	}
	return found
}

// isNumber reports whether an expression is made of numbers and constants alone, with more than a small number.
func isNumber(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return hasNumber(x)
	case *ast.ParenExpr:
		return isNumber(x.X)
	case *ast.BinaryExpr:
		return isNumber(x.X) || isNumber(x.Y) || x.Op == token.SHL
	case *ast.SelectorExpr:
		return strings.HasPrefix(types.ExprString(x), "math.Max")
	case *ast.Ident:
		return x.Name == "noPair" || x.Name == "MaxOrder"
	}
	return false
}

// hasNumber reports whether an expression has a number above 3, or with a fraction, in itself and not in what it calls or
// looks up.
func hasNumber(x ast.Expr) (found bool) {
	ast.Inspect(x, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IndexExpr:
			return false
		case *ast.CallExpr:
			name, _ := node.Fun.(*ast.Ident)
			return name != nil && slices.Contains([]string{"min", "max", "uint64", "int"}, name.Name)
		case *ast.BinaryExpr:
			found = found || node.Op == token.SHL && types.ExprString(node.X) == "1"
		case *ast.BasicLit:
			value, err := strconv.ParseFloat(node.Value, 64)
			found = found || node.Kind == token.FLOAT || node.Kind == token.INT && (err != nil || value > 3)
		}
		return true
	})
	return found
}

func TestEveryThresholdIsTaken(t *testing.T) {
	folders := []string{".", "internal/par", "internal/radix"}
	var found []string
	tests := map[string]bool{}
	for _, folder := range folders {
		found = append(found, thresholdsIn(t, folder)...)
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, line := range strings.Split(string(text), "\n") {
				if name, ok := strings.CutPrefix(line, "func "); ok {
					tests[name[:max(0, strings.IndexByte(name, '('))]] = true
				}
			}
		}
	}
	for _, key := range found {
		_, known := thresholds[key]
		assert.Truef(t, known, "a threshold without an entry in thresholds, and a test of both its sides: %q", key)
	}
	for key, of := range thresholds {
		assert.Truef(t, slices.Contains(found, key), "no such threshold any more: %q", key)
		assert.Truef(t, of.events+of.ties+of.bins > 0 || of.by != "" || of.none != "", "%s: nothing is said", key)
		for _, name := range strings.Fields(of.by) {
			assert.Truef(t, tests[name], "%s: there is no test %s", key, name)
		}
	}
}

// sweep is lossAndGrad in O(n): F_b are carried from one score to the next, and J is computed anew at each. The integral
// is over [0, 1].
func (br *brute) sweep() (loss float64, grad []float64) {
	n := len(br.scores)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(br.scores[i], br.scores[j]) })
	grad = make([]float64, n)
	powers, sums, s := br.powers(), make([]float64, br.nb), make([]float64, br.nb)
	j := func() float64 {
		f := make([]float64, br.nb)
		floats.DivTo(f, sums, br.sums)
		return br.value(f, s, powers)
	}
	move := func(i int, part float64) {
		w := br.weight[i]
		sums[br.bin[i]] += part * w
		s[br.bin[i]] += part * w * w
	}
	moved := func(i int, part float64) float64 {
		move(i, part)
		defer move(i, -part)
		return j()
	}
	below, at := j(), 0.0
	for lo := 0; lo < n; {
		score := br.scores[order[lo]]
		loss += below * (score - at)
		hi := lo
		for hi < n && br.scores[order[hi]] == score {
			move(order[hi], 0.5)
			hi++
		}
		for _, i := range order[lo:hi] { // from the middle of the tie
			grad[i] = moved(i, -0.5) - moved(i, 0.5)
		}
		for _, i := range order[lo:hi] {
			move(i, 0.5)
		}
		below, at, lo = j(), score, hi
	}
	loss += below * (1 - at)
	if br.cfg.Reduction == Mean {
		floats.Scale(1/float64(br.nb), grad)
		loss /= float64(br.nb)
	}
	return loss, grad
}

// sides are option sets for numbers of events: each takes another of the forms that a walk has.
var sides = map[string]func(*Config){
	"order 0":    func(c *Config) { *c = DefaultConfig(MoDe) },
	"order 1":    func(c *Config) { *c = DefaultConfig(MoDe); c.Order, c.Bins = 1, 5 },
	"quadrature": func(c *Config) { c.Order, c.Bins = 2, 5 },
	"bounded":    func(c *Config) { c.Order, c.Bins, c.MaxSlope, c.Monotonic, c.Unbiased = 2, 4, 0.3, true, true },
}

// checkSweep compares the loss of events with the definition.
func checkSweep(t *testing.T, ev Events[float64], cfg Config, what string) {
	t.Helper()
	got := make([]float64, len(ev.Score))
	value, err := LossAndGrad(got, ev, cfg)
	require.NoError(t, err, what)
	loss, grad := newBrute(t, ev, cfg).sweep()
	require.InDelta(t, loss, value, 1e-9*math.Abs(loss)+1e-13, what)
	tolerance := 1e-9*floats.Norm(grad, math.Inf(1)) + 1e-15
	for i := range grad {
		if !(math.Abs(grad[i]-got[i]) <= tolerance) {
			require.Failf(t, "the gradient differs", "%s, event %d: %v, not %v", what, i, got[i], grad[i])
		}
	}
}

// positive makes weights of events positive, so that every bin may be used.
func positive(ev Events[float64]) Events[float64] {
	for i, w := range ev.Weight {
		ev.Weight[i] = 0.1 + math.Abs(w)
	}
	return ev
}

// around returns the numbers below, at and above each of those of the table.
func around(of func(taken) int) (all []int) {
	for _, one := range thresholds {
		if n := of(one); n > 0 {
			all = append(all, n-1, n, n+1)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestBothSidesOfNumbersOfEvents(t *testing.T) {
	numbers := around(func(of taken) int { return of.events })
	require.GreaterOrEqual(t, len(numbers), 24)
	for _, n := range numbers {
		for name, change := range sides {
			cfg := paperConfig()
			if change(&cfg); n > 1<<12 {
				cfg.Bins = 5 // the definition takes a time that grows with their square
			}
			checkSweep(t, positive(spreadEvents[float64](n, name == "order 0", 0.1)), cfg, fmt.Sprint(name, ", ", n))
		}
	}
}

func TestBothSidesOfNumbersOfTies(t *testing.T) {
	for _, ties := range around(func(of taken) int { return of.ties }) {
		for name, change := range sides {
			for _, weighted := range []bool{false, true} {
				cfg := paperConfig()
				change(&cfg)
				if ties > 1<<10 {
					cfg.Bins = 4
				}
				ev := positive(spreadEvents[float64](max(1500, 2*ties), weighted, 0))
				for i := range ties {
					ev.Score[2*i] = 0.625
				}
				checkSweep(t, ev, cfg, fmt.Sprint(name, ", ", ties, " ties"))
			}
		}
	}
}

// All scores are equal, or all but a few: below and above them every moment but the zeroth is 0.
func TestAllTiedWithBounds(t *testing.T) {
	for _, n := range []int{40, 129, 1500} {
		for _, others := range []int{0, 1, 5} {
			for k := range 16 {
				cfg := paperConfig()
				cfg.Order, cfg.Bins, cfg.Unbiased = 2, 4+k/4%2, k/8 == 1
				if k%4 != 1 {
					cfg.Monotonic = true
				}
				if k%4 != 0 {
					cfg.MaxSlope = 0.3
				}
				if k%4 == 3 {
					cfg.SlopeOf, cfg.Binning = Selected, Uniform
				}
				ev := positive(spreadEvents[float64](n, true, 0))
				for i := others; i < n; i++ {
					ev.Score[i] = 0.5
				}
				if cfg.Binning == Uniform {
					for i := range ev.Mass {
						ev.Mass[i] = float64(i % 41)
					}
				}
				checkSweep(t, ev, cfg, fmt.Sprint(n, " events, ", others, " others, ", k))
			}
		}
	}
}

// A tied event that alone takes c_1 to 0, and with others on either side of it in the tie.
func TestTieWithoutSlopeHalfway(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, ties := range []int{4, 60, 300, 3000} {
		ev := Events[float64]{Score: []float64{0.25, 0.75, 0.75}, Mass: []float64{10, 10, 90}, Weight: []float64{1, 3, 3}}
		for i := range ties { // in pairs on either side of the middle, but for one of weight 1 below the tie, and its fellow
			w := 0.5 + rng.Float64()
			for _, mass := range []float64{10 + 20*float64(i%2), 90 - 20*float64(i%2)} {
				ev.Score, ev.Mass, ev.Weight = append(ev.Score, 0.5), append(ev.Mass, mass), append(ev.Weight, w)
			}
			if i == ties/2 {
				ev.Score, ev.Mass, ev.Weight = append(ev.Score, 0.5), append(ev.Mass, 90), append(ev.Weight, 1)
			}
		}
		for _, maxSlope := range []float64{0.3, math.Inf(1)} {
			cfg := paperConfig()
			cfg.Order, cfg.Monotonic, cfg.MaxSlope, cfg.Unbiased = 2, true, maxSlope, ties > 4
			cfg.Binning, cfg.Edges = GivenEdges, []float64{0, 20, 40, 60, 80, 100}
			ev.Score, ev.Mass, ev.Weight = append(ev.Score, 0.1, 0.9), append(ev.Mass, 50, 50), append(ev.Weight, 1, 2)
			checkSweep(t, ev, cfg, fmt.Sprint(ties, " ties, ", maxSlope))
		}
	}
}

// A given bin with fewer effective events has no variance, whatever the signs of its weights; one with more has all digits.
func TestBothSidesOfFewestEffective(t *testing.T) {
	for _, weights := range [][]float64{{1, 0.0249}, {1, 1, -0.97}, {1e6, 1e-6}, {1, 0.0251}, {1, 0.02, 0.02, -0.0148}, {1, -0.9, 0.9, 0.8}} {
		ev := positive(spreadEvents[float64](200, true, 0.1))
		for i, w := range weights {
			ev.Score[i], ev.Mass[i], ev.Weight[i] = 0.2+0.2*float64(i), 20, w
		}
		cfg := DefaultConfig(MoDe)
		cfg.Binning, cfg.Edges, cfg.Order = GivenEdges, []float64{0, 50, 75, 100, 150, 1000}, 1
		loss, err := Loss(ev, cfg)
		total := floats.Sum(weights)
		if effective := total * total / floats.Dot(weights, weights); effective < fewestEffective {
			require.ErrorIs(t, err, ErrBin, weights)
			require.ErrorContains(t, err, fmt.Sprintf("bin 0 of 5, mass in [0, 50), has (sum of weights)^2 / (sum of squared weights) = %.4g effective events", effective))
			cfg.Unbiased = false
			_, err = Loss(ev, cfg)
			require.NoError(t, err)
			continue
		}
		require.NoError(t, err, weights)
		wanted, _ := newBrute(t, ev, cfg).sweep()
		require.InEpsilon(t, wanted, loss, 1e-11, weights)
		checkSweep(t, ev, cfg, fmt.Sprint(weights))
	}
}

func TestBothSidesOfNumbersOfBins(t *testing.T) {
	for _, bins := range around(func(of taken) int { return of.bins }) {
		cfg := paperConfig()
		cfg.Order, cfg.Bins, cfg.Moments = 1, bins, Projection
		checkSweep(t, spreadEvents[float64](40*bins+7, false, 0.1), cfg, fmt.Sprint(bins, " bins"))
	}
}

// A bin of 4 events stays, and one of 3 becomes part of the next.
func TestBothSidesOfEnoughEvents(t *testing.T) {
	for few, bins := range map[int]int{enoughEvents - 1: 7, enoughEvents: 8, enoughEvents + 1: 8} {
		ev := Events[float64]{Mass: []float64{0, 8}}
		for b, count := range []int{9, 9, 9, few, 9, 9, 9, 9} {
			for range count {
				ev.Mass = append(ev.Mass, float64(b)+0.5)
			}
		}
		cfg := DefaultConfig(MoDe)
		cfg.Binning = Uniform
		require.Equal(t, 8, binsFor(&cfg, len(ev.Mass)))
		edges, err := Edges(ev, cfg)
		require.NoError(t, err)
		require.Len(t, edges, bins+1, "%d events", few)
		// What all weights of a bin are multiplied with is no matter, if the next bin's are not smaller.
		for _, m := range ev.Mass {
			ev.Weight = append(ev.Weight, math.Pow(1e3, min(7, math.Floor(m))))
		}
		weighted, err := Edges(ev, cfg)
		require.NoError(t, err)
		require.Equal(t, edges, weighted, "%d events", few)
	}
}

// A gradient that is scattered by blocks is the one that is written at once.
func TestBothSidesOfAScatteredBlock(t *testing.T) {
	defer func(from int) { scatterFrom = from }(scatterFrom)
	for _, n := range []int{1<<blockBits - 1, 1 << blockBits, 1<<blockBits + 1} {
		ev := spreadEvents[float32](n, false, 0.1)
		var grads [][]float32
		for _, scatterFrom = range []int{n + 1, n, n - 1} {
			grad := make([]float32, n)
			_, err := LossAndGrad(grad, ev, DefaultConfig(MoDe))
			require.NoError(t, err)
			grads = append(grads, grad)
		}
		require.Equal(t, grads[0], grads[1])
		require.Equal(t, grads[0], grads[2])
	}
}

func TestBothSidesOfABlockOfDisCo(t *testing.T) {
	for n := 1<<massBlockBits - 1; n <= 1<<massBlockBits+1; n++ {
		ev, got := spreadEvents[float64](n, false, 0.1), make([]float64, n)
		value, err := LossAndGrad(got, ev, DefaultConfig(DisCo))
		require.NoError(t, err)
		want, grad := (&pairwise{ev.Mass, ev.Score, onesIfNil(nil, n), false}).discoAndGrad()
		require.InDelta(t, want, value, 1e-11, n)
		requireAlike(t, grad, got, 1e-9)
	}
}

// One bin more is an error, see TestHessErrors.
func TestBothSidesOfTheMostCurvedBins(t *testing.T) {
	ev, cfg := spreadEvents[float64](2*mostCurvedBins, false, 0), DefaultConfig(MoDe)
	cfg.Bins = mostCurvedBins
	hess := make([]float64, len(ev.Score))
	_, err := LossGradHess(nil, hess, ev, cfg, DefaultSmoothing)
	require.NoError(t, err)
	require.Positive(t, floats.Min(hess))
}

// 8 bins of each of two variables where there are 8 events for each of their 64 cells, and never more.
func TestBothSidesOfMostJointBins(t *testing.T) {
	cfg := DefaultConfig(MoDe)
	cells := mostJointBins * mostJointBins * eventsPerBin
	for n, bins := range map[int]int{cells - 1: mostJointBins - 1, cells: mostJointBins, cells + 1: mostJointBins, 10 * cells: mostJointBins} {
		require.Equal(t, [MaxVariables]int{bins, bins}, jointBinsFor(&cfg, 2, n), n)
	}
}

// Variables that are walked along together, and those whose bins make too many cells for that: the mean of each alone.
func TestBothSidesOfMostCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	const n = 2000
	ev := Events[float64]{Score: make([]float64, n), Masses: [][]float64{make([]float64, n), make([]float64, n), make([]float64, n)}}
	for i := range n {
		ev.Score[i] = rng.Float64()
		for _, mass := range ev.Masses {
			mass[i] = rng.ExpFloat64()
		}
	}
	for _, first := range []int{63, 64, 65} {
		cfg := DefaultConfig(MoDe)
		cfg.Variables = []Variable{{Bins: first, MassRange: unbounded()}, {Bins: 32, MassRange: unbounded()}, {Bins: 32, MassRange: unbounded()}}
		require.Equal(t, first > 64, first*32*32 > mostCells)
		got, want := make([]float64, n), make([]float64, n)
		loss, err := LossAndGrad(got, ev, cfg)
		require.NoError(t, err)
		var sum float64
		for k, v := range cfg.Variables {
			one, grad := DefaultConfig(MoDe), make([]float64, n)
			one.Bins = v.Bins
			value, err := LossAndGrad(grad, Events[float64]{Score: ev.Score, Mass: ev.Masses[k]}, one)
			require.NoError(t, err)
			sum += value / 3
			floats.AddScaled(want, 1.0/3, grad)
		}
		require.InDelta(t, sum, loss, 1e-12)
		requireAlike(t, want, got, 1e-11)
	}
}

// Quantile bins inside of quantile bins, an event in each of as many cells as there may be, and one cell more.
func TestBothSidesOfMostNestedCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 44))
	for _, inner := range []int{256, 257} {
		n := 256 * inner
		ev := Events[float64]{Score: make([]float64, n), Masses: [][]float64{make([]float64, n), make([]float64, n)}}
		for i, place := range rng.Perm(n) {
			ev.Score[i], ev.Masses[0][i], ev.Masses[1][i] = rng.Float64(), float64(place), rng.Float64()
		}
		cfg := DefaultConfig(MoDe)
		cfg.Joint, cfg.Unbiased = true, false
		cfg.Variables = []Variable{{Bins: 256, MassRange: unbounded()}, {Bins: inner, MassRange: unbounded()}}
		_, err := Loss(ev, cfg)
		if n > mostCells {
			require.ErrorContains(t, err, "cells, and 65536 are possible")
			continue
		}
		require.NoError(t, err)
	}
}

func TestBothSidesOfMostValues(t *testing.T) {
	for n := maxValues - 1; n <= maxValues+1; n++ {
		ev, cfg := Events[float64]{}, DefaultConfig(MoDe)
		cfg.Binning, cfg.Unbiased = Values, false
		for i := range n {
			ev.Mass = append(ev.Mass, float64(11*i%n))
		}
		edges, err := Edges(ev, cfg)
		if n > maxValues {
			require.ErrorIs(t, err, ErrOption)
			continue
		}
		require.NoError(t, err)
		require.Len(t, edges, n+1)
	}
}

// Labels near each other have a table, and others do not.
func TestBothSidesOfALabelTable(t *testing.T) {
	const n = 2000
	ev, cfg := spreadEvents[float64](n, false, 0.1), DefaultConfig(MoDe)
	var places [2][]int
	for i := range n {
		places[i%2] = append(places[i%2], i)
	}
	want := make([]float64, n)
	var sum float64
	for _, of := range places {
		grad := make([]float64, len(of))
		loss, err := LossAndGrad(grad, alone(ev, of), cfg)
		require.NoError(t, err)
		sum += loss
		for k, i := range of {
			want[i] = grad[k]
		}
	}
	for _, other := range []int32{1<<16 - 1, 1 << 16, 1<<16 + 1} {
		labels, grad := make([]int32, n), make([]float64, n)
		for _, i := range places[1] {
			labels[i] = other
		}
		ev.Label, cfg.BackgroundLabel = LabelsOf(labels), []int32{0, other}
		loss, err := LossAndGrad(grad, ev, cfg)
		require.NoError(t, err)
		require.Equal(t, sum, loss, other)
		require.Equal(t, want, grad, other)
	}
}

func TestBothSidesOfTheHighestDegrees(t *testing.T) {
	cfg := DefaultConfig(MoDe)
	cfg.Basis, cfg.Degree = BSpline, MaxSplineDegree
	require.NoError(t, cfg.Validate())
	cfg.Degree++
	require.ErrorIs(t, cfg.Validate(), ErrOption)
}

// The bounded form that is fast, and the general one for bounds that are smaller still.
func TestBothSidesOfTheLeastMaxSlope(t *testing.T) {
	ev, cfg := spreadEvents[float64](500, false, 0.1), DefaultConfig(MoDe)
	cfg.Order, cfg.Bins = 2, 6
	var losses []float64
	for _, slope := range []float64{math.Nextafter(leastMaxSlope, 0), leastMaxSlope, math.Nextafter(leastMaxSlope, 1)} {
		cfg.MaxSlope = slope
		checkSweep(t, ev, cfg, fmt.Sprint(slope))
		loss, err := Loss(ev, cfg)
		require.NoError(t, err)
		losses = append(losses, loss)
	}
	require.InDeltaSlice(t, losses[:1], losses[1:2], 1e-12)
}
