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
    static double grad[N];
    call c = good();
    single s;
    set_single(&s, &c);
    const mode_events_f64 e = events_of(&c);
    double loss;
    mode_option option;
    mode_rows_f64 rows;
    mode_rows_f32 frows;
    mode_constraint constraint;
    mode_result_f64 result;
    mode_result_f32 fresult;
    mode_table table;
    BEGIN(option);
    BEGIN(rows);
    BEGIN(frows);
    BEGIN(constraint);
    BEGIN(result);
    BEGIN(fresult);
    BEGIN(table);
    float fgrad[N];
    double value;
    size_t n;
    int threads;
    const struct sigaction set = action(plain, 0);
#define LOOKS(call)                                                                               \
    do {                                                                                          \
        sigaction(SIGURG, &set, NULL);                                                            \
        (void)(call);                                                                             \
        CHECK(in_force(SIGURG).sa_flags & SA_ONSTACK, #call " leaves a handler without the flag"); \
    } while (0)
    LOOKS(mode_options_init(&c.options, sizeof c.options));
    LOOKS(mode_options_check(&c.options));
    LOOKS(mode_option_count(&n));
    LOOKS(mode_option_at(0, &option));
    LOOKS(mode_evaluate_f32(&c.options, &s.events, &fresult));
    LOOKS(mode_evaluate_f64(&c.options, &e, &result));
    LOOKS(mode_loss_f32(&c.options, N, s.score, NULL, s.mass, NULL, &loss, fgrad));
    LOOKS(mode_loss_f64(&c.options, N, c.score, NULL, c.mass, NULL, &loss, grad));
    LOOKS(mode_constraint_push_f32(&c.options, &s.events, &constraint, &frows));
    LOOKS(mode_constraint_push_f64(&c.options, &e, &constraint, &rows));
    LOOKS(mode_constraint_apply_f32(N, &frows, fgrad, fgrad, NULL, 1, NULL));
    LOOKS(mode_constraint_apply_f64(N, &rows, grad, grad, NULL, 1, NULL));
    LOOKS(mode_state_check(grad, N, 1, 0));
    LOOKS(mode_distance_correlation_f32(N, s.score, s.mass, NULL, 0, &value, NULL, NULL));
    LOOKS(mode_distance_correlation_f64(N, c.score, c.mass, NULL, 0, &value, NULL, NULL));
    LOOKS(mode_table_f32(&c.options, &s.events, &table));
    LOOKS(mode_table_f64(&c.options, &e, &table));
    LOOKS(mode_state_size(1, 0, &n));
    LOOKS(mode_set_threads(2));
    LOOKS(mode_get_threads(&threads));
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
    for (int i = 0; i < EVENTS; i++) {
        score[i] = (float)(37 * (i % 1000) % 1000) / 1000.0f;
        mass[i] = (float)(i % 777);
    }
    double first = NAN, loss;

    const struct sigaction set = action(handler, SA_RESTART);
    for (int k = 0; k < SIGNALS; k++) sigaction(looked_at[k], &set, NULL);
    handled = 0;
    running = 1;
    pthread_t self = pthread_self(), sender;
    CHECK(!pthread_create(&sender, NULL, send, &self), "no thread");
    for (int i = 0; i < count; i++, calls++) {
        CHECK(mode_loss_f32(NULL, i % 2 ? EVENTS : EVENTS / 10, score, NULL, mass, NULL, &loss, grad) == MODE_OK, "%s", mode_last_error());
        if (i == 1) first = loss;
        CHECK(i % 2 == 0 || i == 1 || loss == first, "%.17g, and before %.17g", loss, first);
    }
    running = 0;
    pthread_join(sender, NULL);
    CHECK(handled > 0, "no signal came");
}

int main(int argc, char **argv) {
    const int count = argc == 2 ? atoi(argv[1]) : 0;
    mode_options options;
    mode_options_init(&options, sizeof options); /* the library is in use before */
    if (count > 0) {
        test_signals(plain, count);
        test_signals(hungry, count);
    }
    test_functions();
    test_flags();
    return finish();
}
