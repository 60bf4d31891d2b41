package core_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// parsed returns the files of this directory: those that are built anywhere, and those of its tests.
func parsed(t *testing.T) (*token.FileSet, []*ast.File) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set, files := token.NewFileSet(), []*ast.File{}
	for _, name := range names {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(set, name, source, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return set, files
}

// Whoever reads go doc finds for each exported name, fields among them, a comment, and for each
// function and method an example, which go test runs and whose output it compares.
func TestEveryExportedNameHasACommentAndAnExample(t *testing.T) {
	set, files := parsed(t)
	pkg, err := doc.NewFromFiles(set, files, "github.com/libmode/libmode/core")
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{} // of each name, with the name that the comment begins with
	examples := map[string][]*doc.Example{}
	of := func(functions []*doc.Func) {
		for _, f := range functions {
			name := f.Name
			if f.Recv != "" {
				name = strings.TrimPrefix(f.Recv, "*") + "." + f.Name
			}
			comments[name], examples[name] = f.Doc, f.Examples
		}
	}
	values := func(groups []*doc.Value) {
		for _, group := range groups {
			for _, spec := range group.Decl.Specs {
				value := spec.(*ast.ValueSpec)
				own := value.Doc.Text() + value.Comment.Text()
				for _, name := range value.Names {
					if name.IsExported() {
						comments[name.Name] = own
						if own == "" && len(group.Decl.Specs) == 1 {
							comments[name.Name] = group.Doc
						}
					}
				}
			}
		}
	}
	of(pkg.Funcs)
	values(pkg.Consts)
	values(pkg.Vars)
	for _, kind := range pkg.Types {
		comments[kind.Name] = kind.Doc
		of(kind.Funcs)
		of(kind.Methods)
		values(kind.Consts)
		values(kind.Vars)
		shape, ok := kind.Decl.Specs[0].(*ast.TypeSpec).Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, field := range shape.Fields.List {
			for _, name := range field.Names {
				if name.IsExported() {
					comments[kind.Name+"."+name.Name] = field.Doc.Text() + field.Comment.Text()
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(comments)) {
		if strings.TrimSpace(comments[name]) == "" {
			t.Errorf("%s has no comment", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		if !slices.ContainsFunc(examples[name], func(e *doc.Example) bool { return e.Output != "" }) {
			t.Errorf("%s has no example with an output", name)
		}
	}
	if len(comments) < 50 || len(examples) < 10 {
		t.Errorf("found %d names and %d functions: too few to be all", len(comments), len(examples))
	}
}
