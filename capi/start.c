/*
 * Go reserves address space when it starts, which is when the library is loaded. Where there is not enough, it would end the process with
 * a trace of its own. So the linker puts this file between (--wrap): Go starts if there is room, and otherwise at the first call that
 * finds some.
 */
#include "start.h"

#ifndef __linux__ /* elsewhere address space has no limit */
int go_has_started(void) { return 1; }
#else

#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

/* Creates the thread in which Go starts. */
void __real_x_cgo_sys_thread_create(void *(*begin)(void *), void *argument);
void __wrap_x_cgo_sys_thread_create(void *(*begin)(void *), void *argument);

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static void *(*begin_go)(void *);
static void *argument_of_go;
static int started;

static int has_room(void) {
    void *reserved = mmap(NULL, ADDRESS_SPACE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) return 0;
    munmap(reserved, ADDRESS_SPACE);
    return 1;
}

int go_has_started(void) {
    if (__atomic_load_n(&started, __ATOMIC_ACQUIRE)) return 1;
    pthread_mutex_lock(&starting);
    if (!started && has_room()) {
        __real_x_cgo_sys_thread_create(begin_go, argument_of_go);
        __atomic_store_n(&started, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&starting);
    return started;
}

void __wrap_x_cgo_sys_thread_create(void *(*begin)(void *), void *argument) {
    begin_go = begin;
    argument_of_go = argument;
    go_has_started();
}

#endif
