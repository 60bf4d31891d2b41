#ifndef LIBMODE_START_H
#define LIBMODE_START_H

/*
 * The most address space, in bytes, with which a start of Go 1.26 was seen to fail is 1.55 GB: its tables take 0.84 GB, and each thread
 * that creates another takes 64 MB for a heap of the C library, if there is room, which Go then lacks.
 */
#define ADDRESS_SPACE 1700000000

/* Starts Go unless it has started. Returns 0 if the process may not have so much address space more. */
int go_has_started(void);

#endif
