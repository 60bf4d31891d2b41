/*
 * A program that replaces handlers of signals after the library is loaded, without SA_ONSTACK, as ROOT does: each call
 * gives them the flag, and changes nothing else, so that a signal does not write over the small stack of a goroutine.
 * Usage: test_signals CALLS, the number of calls during which signals come
 */
#define _XOPEN_SOURCE 700 /* sigaction, threads */
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "../../capi/private.h"
#include "call.h"

static const int looked_at[] = {SIGSEGV, SIGBUS, SIGFPE, SIGPIPE, SIGURG, SIGPROF, SIGALRM};
enum { SIGNALS = sizeof looked_at / sizeof *looked_at, HANDLER_BYTES = 12000, EVENTS = 40000 };

static volatile sig_atomic_t handled;
static volatile sig_atomic_t calls, running; /* calls that have ended; whether the sender goes on */

static void plain(int signal) {
    (void)signal;
    handled++;
}

static void with_information(int signal, siginfo_t *about, void *context) {
    (void)about;
    (void)context;
    plain(signal);
}

/* Uses much of the stack that it runs on. */
static void hungry(int signal) {
    volatile unsigned char block[HANDLER_BYTES];
    for (size_t i = 0; i < sizeof block; i++) block[i] = 0xa5;
    plain(signal);
}

static struct sigaction action(void (*handler)(int), int flags) {
    struct sigaction set;
    memset(&set, 0, sizeof set);
    set.sa_handler = handler;
    sigemptyset(&set.sa_mask);
    sigaddset(&set.sa_mask, SIGUSR1);
    set.sa_flags = flags;
    return set;
}

static struct sigaction in_force(int signal) {
    struct sigaction now;
    sigaction(signal, NULL, &now);
    return now;
}

/* ------------------------------------------------------------------- flags */

/* Sets an action for all signals, enters the library, and compares what is in force then. */
static void check_flags(const char *what, const struct sigaction *set, int added) {
    for (int k = 0; k < SIGNALS; k++) sigaction(looked_at[k], set, NULL);
    int threads;
    CHECK(mode_get_threads(&threads) == MODE_OK, "%s", mode_last_error());
    for (int k = 0; k < SIGNALS; k++) {
        struct sigaction now = in_force(looked_at[k]);
        const int same = set->sa_flags & SA_SIGINFO ? now.sa_sigaction == set->sa_sigaction : now.sa_handler == set->sa_handler;
        CHECK(same, "%s: the handler of signal %d is another", what, looked_at[k]);
        /* The C library may add flags of its own. */
        const int known = SA_ONSTACK | SA_RESTART | SA_SIGINFO | SA_NODEFER | SA_NOCLDSTOP;
        CHECK((now.sa_flags & known) == (set->sa_flags | added), "%s: signal %d has flags %x", what, looked_at[k], (unsigned)now.sa_flags);
        CHECK(sigismember(&now.sa_mask, SIGUSR1) && !sigismember(&now.sa_mask, SIGUSR2), "%s: another mask", what);
    }
}

static void test_flags(void) {
    struct sigaction set = action(plain, SA_RESTART);
    check_flags("a handler", &set, SA_ONSTACK);
    set = action(plain, SA_NODEFER | SA_ONSTACK);
    check_flags("a handler that has the flag", &set, 0);
    set = action(SIG_IGN, 0);
    check_flags("SIG_IGN", &set, 0);
    set = action(SIG_DFL, 0);
    check_flags("SIG_DFL", &set, 0);
    set = action(SIG_DFL, SA_RESTART | SA_SIGINFO);
    set.sa_sigaction = with_information;
    check_flags("a handler with information", &set, SA_ONSTACK);
}

/* Every function that goes into Go looks at the handlers. */
static void test_functions(void) {
    double grad[N], value;
    call c = good();
    const mode_events e = events_of(&c);
    mode_handle *const m = handle_of(c.options);
    mode_result result = begun();
    mode_table table;
    memset(&table, 0, sizeof table);
    table.size = sizeof table;
    int threads;
    const struct sigaction set = action(plain, 0);
#define LOOKS(call)                                                                               \
    do {                                                                                          \
        sigaction(SIGURG, &set, NULL);                                                            \
        (void)(call);                                                                             \
        CHECK(in_force(SIGURG).sa_flags & SA_ONSTACK, #call " leaves a handler without the flag"); \
    } while (0)
    LOOKS(mode_new("order"));
    LOOKS(mode_text(m));
    LOOKS(mode_set_edges(m, 1, 2, grad));
    LOOKS(mode_options_table());
    LOOKS(mode_loss(m, &e, &result, grad));
    LOOKS(mode_push(m, &e, NULL, grad, grad));
    LOOKS(mode_push_rows(m, &e, NULL, NULL, NULL));
    LOOKS(mode_push_apply(N, MODE_FLOAT64, NULL, NULL, 1, grad, grad, NULL, NULL));
    LOOKS(mode_state_check(m, NULL));
    LOOKS(mode_state_size(m));
    LOOKS(mode_distance_correlation(N, MODE_FLOAT64, c.score, c.mass, NULL, 0, &value, NULL, NULL));
    LOOKS(mode_table_of(m, &e, &table));
    LOOKS(mode_set_threads(2));
    LOOKS(mode_get_threads(&threads));
    LOOKS((mode_free(m), 0));
}

/* ----------------------------------------------------------------- signals */

/*
 * Sends SIGURG to the thread that calls the library, .3 ms after it has handled the last, and ends a program that hangs:
 * in which no call ends for so long.
 */
static void *send(void *to) {
    const struct timespec pause = {0, 300000};
    sig_atomic_t before = -1, ended = -1;
    time_t last = 0;
    while (running) {
        if (handled != before) {
            before = handled;
            pthread_kill(*(pthread_t *)to, SIGURG);
        }
        nanosleep(&pause, NULL);
        if (calls != ended) {
            ended = calls;
            last = time(NULL);
        } else if (time(NULL) - last > LIMIT) {
            fprintf(stderr, "calls hang while signals come\n");
            _exit(EXIT_FAILURE);
        }
    }
    return NULL;
}

/* Calls of one thread and of several, while signals come whose handler was set after the library was loaded. */
static void test_signals(void (*handler)(int), int count) {
    static float score[EVENTS], mass[EVENTS], grad[EVENTS];
    mode_handle *const m = handle_of("");
    mode_events e = {.size = sizeof e, .dtype = MODE_FLOAT32, .score = score, .mass = mass};
    mode_result r = begun();
    for (int i = 0; i < EVENTS; i++) {
        score[i] = (float)(37 * (i % 1000) % 1000) / 1000.0f;
        mass[i] = (float)(i % 777);
    }
    double first = NAN;

    const struct sigaction set = action(handler, SA_RESTART);
    for (int k = 0; k < SIGNALS; k++) sigaction(looked_at[k], &set, NULL);
    handled = 0;
    running = 1;
    pthread_t self = pthread_self(), sender;
    CHECK(!pthread_create(&sender, NULL, send, &self), "no thread");
    for (int i = 0; i < count; i++, calls++) {
        e.n = i % 2 ? EVENTS : EVENTS / 10;
        CHECK(mode_loss(m, &e, &r, grad) == MODE_OK, "%s", mode_last_error());
        if (i == 1) first = r.loss;
        CHECK(i % 2 == 0 || i == 1 || r.loss == first, "%.17g, and before %.17g", r.loss, first);
    }
    running = 0;
    pthread_join(sender, NULL);
    CHECK(handled > 0, "no signal came");
    mode_free(m);
}

int main(int argc, char **argv) {
    const int count = argc == 2 ? atoi(argv[1]) : 0;
    mode_free(handle_of("")); /* the library is in use before */
    if (count > 0) {
        test_signals(plain, count);
        test_signals(hungry, count);
    }
    test_functions();
    test_flags();
    return finish();
}
