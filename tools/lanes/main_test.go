package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The files in the tree are those that the generator writes.
func TestCommitted(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s is not what tools/lanes writes: go -C tools run ./lanes", name)
		}
	}
}
