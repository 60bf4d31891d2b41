/*
 * A signal without SA_ONSTACK writes its frame, and what its handler needs, on the stack of the code that it interrupts.
 * The stack of a goroutine has no room for that, so the signal would write over other memory of Go. The Go runtime gives
 * the handlers that it finds SA_ONSTACK when it starts. ROOT, for one, sets its handlers again later, without.
 */
#include "signals.h"

#ifdef _WIN32 /* has no such stacks */
void move_handlers_off_the_stack(void) {}
#else

#include <signal.h>
#include <stddef.h>

/* The signals of defects, which Go turns into panics, and signals that come often: Go preempts goroutines by SIGURG. */
static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGPIPE, SIGURG, SIGPROF, SIGALRM};

/*
 * Reading and setting an action are two steps. If another thread sets a handler between them, it has been replaced by the
 * handler before it: it is put back at once, and gets the flag at the next call. A signal that comes meanwhile goes to the
 * handler before. Two threads that give the same handler the flag do no harm.
 */
static void move_handler(int number) {
    struct sigaction found, moved, replaced;
    if (sigaction(number, NULL, &found) || found.sa_flags & SA_ONSTACK) return;
    if (found.sa_handler == SIG_DFL || found.sa_handler == SIG_IGN) return;
    moved = found;
    moved.sa_flags |= SA_ONSTACK;
    if (!sigaction(number, &moved, &replaced) && replaced.sa_handler != found.sa_handler) sigaction(number, &replaced, NULL);
}

/* Costs 1.5 us if nothing is to be done: seven system calls. */
void move_handlers_off_the_stack(void) {
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) move_handler(numbers[k]);
}

#endif
