package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// In go doc each exported name has a comment, fields among them.
func TestEveryExportedNameHasAComment(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set, found := token.NewFileSet(), 0
	want := func(name *ast.Ident, comments ...*ast.CommentGroup) {
		if found++; name.IsExported() && len(name.Name) > 1 && !slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return c.Text() != "" }) {
			t.Errorf("%s has no comment", name)
		}
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			switch of := node.(type) {
			case *ast.FuncDecl:
				want(of.Name, of.Doc)
				return false
			case *ast.GenDecl:
				if single := of.Doc; !of.Lparen.IsValid() {
					if kind, ok := of.Specs[0].(*ast.TypeSpec); ok {
						want(kind.Name, single)
					} else if value, ok := of.Specs[0].(*ast.ValueSpec); ok {
						want(value.Names[0], single)
						return false
					}
				}
			case *ast.ValueSpec:
				want(of.Names[0], of.Doc, of.Comment)
			case *ast.Field:
				for _, name := range of.Names {
					want(name, of.Doc, of.Comment)
				}
			}
			return true
		})
	}
	if found < 100 {
		t.Errorf("found %d names: too few to be all", found)
	}
}
