//go:build before_label_types

package main

// labelsOf returns labels as the core took them when they were all of one type.
// bench/against.py compiles this file with commits of that time.
func labelsOf(labels []int32) []int32 { return labels }
