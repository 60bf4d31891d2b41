//go:build !before_label_types

package main

import "github.com/libmode/libmode/core"

// labelsOf returns labels as the core takes them.
func labelsOf(labels []int32) core.LabelSlice { return core.LabelsOf(labels) }
