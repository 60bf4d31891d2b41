// Command mutation says whether the tests of core would see a mistake: it changes one place of the
// stages at a time, an operator, a number or a condition, and runs the tests until one fails.
//
//	go run ./tests/mutation -sample 200 -seed 1
//
// The tree is left alone: the compiler reads the changed file in place of the other (go build -overlay).
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// stages are the packages of the route in core/doc.go.
var stages = []string{"events", "bins", "moments", "order", "walk", "loss"}

// Tests that measure and do not compare.
const skipped = "TestAllocations|TestThreads|Fuzz"

// Tests that find most mistakes, in seconds: they run first.
const quick = "Golden|BruteForce|Errors|Validate|Property"

// Mutants that give the same result, with the reason. They are not tried.
var equivalent = map[string]string{
	"select.go: return 1: (1 + 1) in place of 1":                                                      "any power of two does",
	"select.go: return math.Ldexp(1, min(max(-1022, -exponent), 1023)): (1022 + 1) in place of 1022":  "any power of two near does",
	"chunks.go: } else if int(end-rs.cells[from]) >= size || c == len(rs.cells)-2 {: + in place of -": "how many records a chunk has",
	"chunks.go: for range 2 * ((hi - lo) / size) {: (2 + 1) in place of 2":                            "room",
	"merge.go: if !(sum > 0) || math.IsInf(sum, 1) || math.IsInf(1/sum, 1) {: >= in place of >":       "0 has had its error before",
}

var swaps = map[token.Token]token.Token{
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.MUL_ASSIGN: token.QUO_ASSIGN, token.QUO_ASSIGN: token.MUL_ASSIGN,
}

// mutant is one change of a file.
type mutant struct {
	file       string
	line       int
	start, end int // bytes of the file
	was, is    string
	of         string // the line, without what stands before and after it
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %q in place of %q", m.file, m.line, m.is, m.was)
}

func main() {
	log.SetFlags(0)
	sample := flag.Int("sample", 0, "how many mutants to try, drawn at random; 0: all")
	seed := flag.Uint64("seed", 1, "of the draw")
	limit := flag.Duration("limit", 2*time.Minute, "after which the quick tests, if they go on, count as failed; the others get four times as much")
	flag.Parse()
	files := flag.Args()
	for _, stage := range stages {
		found, err := filepath.Glob(filepath.Join("core", "internal", stage, "*.go"))
		if err != nil || len(found) == 0 {
			log.Fatalf("core has no package %s: run this in the root of the tree, and keep the list of stages complete", stage)
		}
		for _, name := range found {
			if flag.NArg() == 0 && !strings.HasSuffix(name, "_test.go") {
				files = append(files, name)
			}
		}
	}
	var all []mutant
	for _, name := range files {
		found, err := mutants(name)
		if err != nil {
			log.Fatal(err)
		}
		all = append(all, found...)
	}
	total := len(all)
	rng := rand.New(rand.NewPCG(*seed, 0))
	rng.Shuffle(total, func(i, j int) { all[i], all[j] = all[j], all[i] })
	if *sample > 0 && *sample < total {
		all = all[:*sample]
	}
	var killed, invalid, same int
	var survivors []mutant
	for k, m := range all {
		if reason := equivalent[fmt.Sprintf("%s: %s: %s in place of %s", filepath.Base(m.file), m.of, m.is, m.was)]; reason != "" {
			same++
			fmt.Printf("%d of %d same     %v: %s\n", k+1, len(all), m, reason)
			continue
		}
		verdict, err := try(m, *limit)
		if err != nil {
			log.Fatal(err)
		}
		switch verdict {
		case "killed":
			killed++
		case "invalid":
			invalid++
		default:
			survivors = append(survivors, m)
		}
		fmt.Printf("%d of %d %-8s %v\n", k+1, len(all), verdict, m)
	}
	slices.SortFunc(survivors, func(a, b mutant) int { return strings.Compare(a.String(), b.String()) })
	valid := killed + len(survivors)
	fmt.Printf("\n%d places, %d drawn, of which %d do not compile and %d give the same result; of the %d others %d killed, %.1f %%\n",
		total, len(all), invalid, same, valid, killed, 100*float64(killed)/float64(max(valid, 1)))
	for _, m := range survivors {
		fmt.Println("survived", m)
	}
}

// mutants lists the changes of a file.
func mutants(path string) ([]mutant, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, 0)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(source), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	var found []mutant
	add := func(at token.Pos, was, is string) {
		place := set.Position(at)
		found = append(found, mutant{path, place.Line, place.Offset, place.Offset + len(was), was, is, lines[place.Line-1]})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok != token.IMPORT
		case *ast.BinaryExpr:
			if other, ok := swaps[n.Op]; ok {
				add(n.OpPos, n.Op.String(), other.String())
			}
		case *ast.AssignStmt:
			if other, ok := swaps[n.Tok]; ok {
				add(n.TokPos, n.Tok.String(), other.String())
			}
		case *ast.IncDecStmt:
			if n.Tok == token.INC {
				add(n.TokPos, "++", "--")
			}
		case *ast.IfStmt:
			add(n.Cond.Pos(), "", "!!")
			text := string(source[set.Position(n.Cond.Pos()).Offset:set.Position(n.Cond.End()).Offset])
			last := &found[len(found)-1]
			last.end, last.was, last.is = set.Position(n.Cond.End()).Offset, text, "!("+text+")"
		case *ast.BasicLit:
			if n.Kind == token.INT || n.Kind == token.FLOAT {
				add(n.Pos(), n.Value, "("+n.Value+" + 1)")
			}
		}
		return true
	})
	return found, nil
}

// try compiles the tests with a mutant and runs them until one fails.
func try(m mutant, limit time.Duration) (string, error) {
	folder, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	source, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	changed := slices.Concat(source[:m.start], []byte(m.is), source[m.end:])
	file, overlay, binary := filepath.Join(folder, "changed.go"), filepath.Join(folder, "overlay.json"), filepath.Join(folder, "core.test")
	if err := os.WriteFile(file, changed, 0o600); err != nil {
		return "", err
	}
	original, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: file}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		return "", err
	}
	if out, err := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", binary, "./core").CombinedOutput(); err != nil {
		if !bytes.Contains(out, []byte(filepath.Base(file))) && !bytes.Contains(out, []byte("core/")) {
			return "", fmt.Errorf("go test -c: %w\n%s", err, out)
		}
		return "invalid", nil
	}
	for _, which := range [][]string{{"-test.run", quick}, {"-test.skip", skipped + "|" + quick}} {
		if !passes("core", limit, binary, append(which, "-test.failfast")...) {
			return "killed", nil
		}
		limit *= 4 // the others take longer
	}
	return "survived", nil
}

// passes says whether a program ends well within the limit.
func passes(folder string, limit time.Duration, name string, arguments ...string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	run := exec.CommandContext(ctx, name, arguments...)
	run.Dir = folder
	return run.Run() == nil
}
