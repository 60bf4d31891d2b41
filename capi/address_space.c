/*
 * Go reserves address space when it is loaded. Where there is not enough, it would end the process with a trace of its
 * own, and no function can return a status before Go runs. So the process ends here, with a sentence, as the loader ends it
 * if it lacks memory for a library.
 */
#ifdef __linux__ /* elsewhere address space has no limit */

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Go 1.26 takes 0.84 GB at least, with the stacks of its first threads, of 8 MB each. */
static const size_t needed = 900000000;
static const char sentence[] =
    "libmode: loading it takes 0.9 GB of address space, and this process may not have so much: raise its limit (ulimit -v)\n";

/* Before the constructor of Go, which has no priority. */
__attribute__((constructor(101))) static void check_address_space(void) {
    void *reserved = mmap(NULL, needed, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) {
        if (write(STDERR_FILENO, sentence, sizeof sentence - 1)) _exit(127); /* as the loader does */
    }
    munmap(reserved, needed);
}

#endif
