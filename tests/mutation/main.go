// Command mutation says whether the tests of core would see a mistake: it changes one place of the
// stages at a time, an operator, a number or a condition, and runs the tests until one fails.
//
//	go run ./tests/mutation -sample 200 -seed 1
//
// The tree is left alone: the compiler reads the changed file in place of the other (go build -overlay).
package main

import (
	"context"
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

// stages are the packages of the route in core/doc.go, without push, whose definition is in the tests of Python.
var stages = []string{"events", "bins", "moments", "order", "walk", "loss"}

// Tests that measure and do not compare.
const skipped = "TestAllocations|TestThreads|Fuzz"

// Tests that find most mistakes, in seconds: they run first.
const quick = "Golden|Random|Error"

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
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %q in place of %q", m.file, m.line, m.is, m.was)
}

func main() {
	log.SetFlags(0)
	sample := flag.Int("sample", 0, "how many mutants to try, drawn at random; 0: all")
	seed := flag.Uint64("seed", 1, "of the draw")
	flag.Parse()
	var all []mutant
	for _, stage := range stages {
		files, err := filepath.Glob(filepath.Join("core", "internal", stage, "*.go"))
		if err != nil || len(files) == 0 {
			log.Fatalf("core has no package %s: run this in the root of the tree, and keep the list of stages complete", stage)
		}
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") {
				all = append(all, mutants(name)...)
			}
		}
	}
	rng := rand.New(rand.NewPCG(*seed, 0))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if *sample > 0 && *sample < len(all) {
		all = all[:*sample]
	}
	count := map[string]int{}
	for k, m := range all {
		verdict := try(m)
		count[verdict]++
		fmt.Printf("%d of %d %-8s %v\n", k+1, len(all), verdict, m)
	}
	fmt.Println(count)
}

// must ends the program after an error.
func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// mutants lists the changes of a file.
func mutants(path string) (found []mutant) {
	source, err := os.ReadFile(path)
	must(err)
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, 0)
	must(err)
	add := func(at token.Pos, was, is string) {
		place := set.Position(at)
		found = append(found, mutant{path, place.Line, place.Offset, place.Offset + len(was), was, is})
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
	return found
}

// try compiles the tests with a mutant and runs them until one fails.
func try(m mutant) string {
	folder, err := os.MkdirTemp("", "mutant")
	must(err)
	defer os.RemoveAll(folder)
	source, err := os.ReadFile(m.file)
	must(err)
	original, err := filepath.Abs(m.file)
	must(err)
	file, overlay, binary := filepath.Join(folder, "changed.go"), filepath.Join(folder, "overlay.json"), filepath.Join(folder, "core.test")
	must(os.WriteFile(file, slices.Concat(source[:m.start], []byte(m.is), source[m.end:]), 0o600))
	must(os.WriteFile(overlay, fmt.Appendf(nil, `{"Replace": {%q: %q}}`, original, file), 0o600))
	if exec.Command("go", "test", "-c", "-overlay", overlay, "-o", binary, "./core").Run() != nil {
		return "invalid" // it does not compile
	}
	limit := 2 * time.Minute // after which tests that go on count as failed
	for _, which := range [][]string{{"-test.run", quick}, {"-test.skip", skipped + "|" + quick}} {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		run := exec.CommandContext(ctx, binary, append(which, "-test.failfast")...)
		run.Dir = "core"
		err := run.Run()
		cancel()
		if err != nil {
			return "killed"
		}
		limit *= 4 // the others take longer
	}
	return "survived"
}
