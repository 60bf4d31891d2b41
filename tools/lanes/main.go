// Lanes writes the assembly of core/internal/lanes, and its declarations in Go: go -C tools run ./lanes
//
// Each function takes the steps of the function in Go in the same order, so that both return the same bits: it has no fused
// multiplication and addition. Constants are made in registers, so that its machine code does not depend on where it is.
package main

import (
	"errors"
	"log"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

const folder = "../core/internal/lanes" // from tools/

func main() {
	log.SetFlags(0)
	files, err := generate()
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), text, 0o666))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// generate returns the texts of the files by their names.
func generate() (map[string][]byte, error) {
	c := build.NewContext()
	c.ConstraintExpr("!purego")
	look32(c)
	look64(c)
	words(c)
	decode(c)
	cross(c)
	file, err := c.Result()
	if err != nil {
		return nil, err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return nil, err
	}
	cfg := printer.Config{Argv: []string{"go", "-C", "tools", "run", "./lanes"}, Pkg: "lanes"}
	files := make(map[string][]byte)
	for name, of := range map[string]printer.Printer{"avx2_amd64.s": printer.NewGoAsm(cfg), "avx2_amd64.go": printer.NewStubs(cfg)} {
		if files[name], err = of.Print(file); err != nil {
			return nil, err
		}
	}
	return files, nil
}
