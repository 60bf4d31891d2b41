//go:build !linux

package core

func adviseHuge[E any](s []E) {}
