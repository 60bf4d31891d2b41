//go:build !linux

package par

func adviseHuge[E any](s []E) {}
