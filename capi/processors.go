//go:build go1.25

// The limit of processors of a container or batch job counts, also where it changes: without these lines the version in
// go.mod would have the runtime take all processors of the machine.

//go:debug containermaxprocs=1
//go:debug updatemaxprocs=1

package main
