package par

import (
	"syscall"
	"unsafe"
)

// hugePage is the size of the pages that adviseHuge asks for.
const hugePage = 1 << 21

// adviseHuge asks for huge pages behind a large slice that was not yet written
// to. Records are written all over theirs, which with small pages costs more for
// the addresses than for the data. It is a hint, and failing does no harm.
func adviseHuge[E any](s []E) {
	var e E
	start := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	lo := (start + hugePage - 1) &^ (hugePage - 1)
	hi := (start + uintptr(cap(s))*unsafe.Sizeof(e)) &^ (hugePage - 1)
	if lo < hi {
		const madvHugepage = 14
		bytes := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(s)), lo-start)), hi-lo)
		_ = syscall.Madvise(bytes, madvHugepage)
	}
}
