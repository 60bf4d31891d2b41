package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// In go doc each exported name has a comment, fields among them.
func TestEveryExportedNameHasAComment(t *testing.T) {
	var files []string
	for _, of := range []string{"*.go", "constraint/*.go", "disco/*.go"} {
		found, err := filepath.Glob(of)
		require.NoError(t, err)
		files = append(files, found...)
	}
	found, ofGroup := 0, ""
	want := func(name *ast.Ident, comment string) {
		found++
		require.False(t, name.IsExported() && len(name.Name) > 1 && comment == "", "%s has no comment", name)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		require.NoError(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			switch of := node.(type) {
			case *ast.FuncDecl:
				want(of.Name, of.Doc.Text())
				return false
			case *ast.GenDecl:
				if ofGroup = of.Doc.Text(); of.Lparen.IsValid() {
					ofGroup = ""
				}
			case *ast.TypeSpec:
				want(of.Name, ofGroup+of.Doc.Text())
			case *ast.ValueSpec:
				want(of.Names[0], ofGroup+of.Doc.Text()+of.Comment.Text())
			case *ast.Field:
				for _, name := range of.Names {
					want(name, of.Doc.Text()+of.Comment.Text())
				}
			}
			return true
		})
	}
	require.Greater(t, found, 100)
}
