/*
 * A signal without SA_ONSTACK writes its frame, and what its handler needs, on the stack of the code that it interrupts.
 * The stack of a goroutine has no room for that, so the signal would write over other memory of Go. The Go runtime gives
 * the handlers that it finds SA_ONSTACK when it starts. ROOT, for one, sets its handlers again later, without.
 */
#include "signals.h"

#ifdef _WIN32 /* has no such stacks */
void move_handlers_off_the_stack(void) {}
#else

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/* The signals of defects, which Go turns into panics, and signals that come often: Go preempts goroutines by SIGURG. */
static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGPIPE, SIGURG, SIGPROF, SIGALRM};

static int needs_flag(const struct sigaction *action) {
    return !(action->sa_flags & SA_ONSTACK) && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

static pthread_mutex_t moving = PTHREAD_MUTEX_INITIALIZER; /* one thread of the library at a time */

/*
 * Reading and setting an action are two steps. A handler that another thread sets between them comes back from the second: it is
 * newer, so it is set in its turn, until what comes back is what was set last. A signal that comes meanwhile goes to a handler before.
 */
static void move_handler(int number) {
    struct sigaction set, replaced;
    void (*last)(int);
    if (sigaction(number, NULL, &set) || !needs_flag(&set)) return;
    pthread_mutex_lock(&moving);
    if (!sigaction(number, NULL, &set) && needs_flag(&set)) {
        last = set.sa_handler;
        for (;;) {
            if (needs_flag(&set)) set.sa_flags |= SA_ONSTACK;
            if (sigaction(number, &set, &replaced) || replaced.sa_handler == last) break;
            last = set.sa_handler;
            set = replaced;
        }
    }
    pthread_mutex_unlock(&moving);
}

/* Costs 1.5 us if nothing is to be done: seven system calls. */
void move_handlers_off_the_stack(void) {
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) move_handler(numbers[k]);
}

#endif
