/*
 * The functions of mode.h and private.h. They refuse to enter Go in a forked child,
 * keep the message of the last error for the thread, and leave the rest to Go.
 */
#include "mode.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"
#include "call.h"
#include "signals.h"
#include "start.h"

/*
 * The key of each thread's last error, which is allocated with the first one. Not __thread: a library
 * that is loaded at run time gets little of such memory, and a forked child loads a second copy.
 */
static pthread_key_t message_key;
static int have_key;
static volatile int forked;

#ifdef _WIN32 /* has no fork() */
static void watch_forks(void) {}
#else
static void mark_child(void) { forked = 1; }
static void watch_forks(void) { pthread_atfork(NULL, NULL, mark_child); }
#endif

__attribute__((constructor)) static void start(void) {
    have_key = pthread_key_create(&message_key, free) == 0;
    watch_forks();
}

/* Keeps an error for its thread, unless there is no memory for it. */
static int keep(const failure *failed) {
    failure *kept = have_key ? pthread_getspecific(message_key) : NULL;
    if (have_key && !kept) {
        kept = malloc(sizeof *kept);
        if (kept && pthread_setspecific(message_key, kept)) {
            free(kept);
            kept = NULL;
        }
    }
    if (kept) *kept = *failed;
    return failed->parts.status;
}

/* Fails with a message that names no event. */
static int fail(int status, const char *text) {
    failure failed = {.parts = {.status = status, .place = -1}};
    snprintf(failed.text, sizeof failed.text, "%s", text);
    failed.parts.advice_at = strlen(failed.text);
    return keep(&failed);
}

static const failure *last_error(void) { return have_key ? pthread_getspecific(message_key) : NULL; }

const char *mode_last_error(void) {
    const failure *kept = last_error();
    return kept ? kept->text : "";
}

/* Begins a call into Go, whose threads do not survive a fork: a call could wait for them for ever. */
static int enter(void) {
    if (forked)
        return fail(MODE_ERROR_FORKED,
                    "libmode was loaded before fork() and cannot be used in the child: "
                    "load a copy of it under another path there, or start children by spawn");
    if (!go_has_started())
        return fail(MODE_ERROR_MEMORY,
                    "loading libmode takes 1.7 GB of address space, and this process may not have so much more: "
                    "raise its limit (ulimit -v)");
    move_handlers_off_the_stack();
    return MODE_OK;
}

/* Calls a function of Go, which gets its arguments and a place for an error. */
#define CALL(function, ...)                                       \
    do {                                                          \
        failure failed;                                           \
        int status = enter();                                     \
        if (status) return status;                                \
        return function(__VA_ARGS__, &failed) ? keep(&failed) : 0; \
    } while (0)

/* The same for a function that returns a result, which is 0 after an error. */
#define CALL_FOR(type, function, ...)              \
    do {                                           \
        failure failed;                            \
        type result;                               \
        if (enter()) return 0;                     \
        result = (type)function(__VA_ARGS__, &failed); \
        if (!result) keep(&failed);                \
        return result;                             \
    } while (0)

/* Says why there is no handle, for a program that has not looked. */
static int refuse_null(void) {
    static const char no_handle[] = "m is NULL: mode_new returns NULL after an error. ";
    const failure *kept = last_error();
    char text[MESSAGE_SIZE];
    int status = enter();
    if (status || (kept && !strncmp(kept->text, no_handle, strlen(no_handle)))) return status ? status : MODE_ERROR_ARGUMENT;
    snprintf(text, sizeof text, "%sThe last error was: %.900s", no_handle, kept ? kept->text : "none");
    return fail(MODE_ERROR_ARGUMENT, text);
}

/* Calls a function of Go for a handle, which is a number that Go must not take for a pointer. */
#define CALL_OF(m, function, ...)                    \
    do {                                             \
        if (!(m)) return refuse_null();              \
        CALL(function, (uintptr_t)(m), __VA_ARGS__); \
    } while (0)

mode_handle *mode_new(const char *options) { CALL_FOR(mode_handle *, modeNew, (char *)options); }

int mode_set_edges(mode_handle *m, size_t variable, size_t n, const double *edges) {
    CALL_OF(m, modeSetEdges, variable, n, (double *)edges);
}

const char *mode_text(const mode_handle *m) {
    if (!m) return "";
    CALL_FOR(const char *, modeText, (uintptr_t)m);
}

void mode_free(mode_handle *m) {
    if (m && !forked && !enter()) modeFree((uintptr_t)m);
}

int mode_loss(const mode_handle *m, const mode_events *events, mode_result *result, void *grad) {
    CALL_OF(m, modeLoss, (mode_events *)events, result, grad);
}

size_t mode_state_size(const mode_handle *m) {
    if (!m) return refuse_null(), (size_t)0;
    CALL_FOR(size_t, modeStateSize, (uintptr_t)m);
}

int mode_state_check(const mode_handle *m, const double *state) { CALL_OF(m, modeStateCheck, (double *)state); }

int mode_push(const mode_handle *m, const mode_events *events, double *state, const void *grad_in, void *grad_out) {
    CALL_OF(m, modePush, (mode_events *)events, state, (void *)grad_in, grad_out);
}

int mode_push_rows(const mode_handle *m, const mode_events *events, const double *state, void *rows, double *lesson) {
    CALL_OF(m, modePushRows, (mode_events *)events, (double *)state, rows, lesson);
}

int mode_push_apply(size_t n, int32_t dtype, const void *rows, const double *lesson, size_t n_state, const void *gradient,
                    void *result, double *state, const double *norms) {
    CALL(modePushApply, n, dtype, (void *)rows, (double *)lesson, n_state, (void *)gradient, result, state, (double *)norms);
}

int mode_table_of(const mode_handle *m, const mode_events *events, mode_table *table) {
    CALL_OF(m, modeTableOf, (mode_events *)events, table);
}

int mode_distance_correlation(size_t n, int32_t dtype, const void *x, const void *y, const void *weight, int unbiased,
                              double *value, void *grad_x, void *grad_y) {
    CALL(modeDistanceCorrelation, n, dtype, (void *)x, (void *)y, (void *)weight, unbiased, value, grad_x, grad_y);
}

const char *mode_options_table(void) { return enter() ? NULL : modeOptionsTable(); }

int mode_set_threads(int threads) {
    int status = enter();
    if (status) return status;
    if (threads < 0) {
        char text[MESSAGE_SIZE];
        snprintf(text, sizeof text, "threads = %d must not be negative: give 0 for the default, or the number of threads", threads);
        return fail(MODE_ERROR_ARGUMENT, text);
    }
    modeSetThreads(threads);
    return MODE_OK;
}

int mode_get_threads(int *threads) {
    int status = enter();
    if (status) return status;
    if (!threads) return fail(MODE_ERROR_ARGUMENT, "threads is NULL");
    *threads = modeThreads();
    return MODE_OK;
}

const char *mode_version(void) { return MODE_VERSION; }

int mode_abi_version(void) { return MODE_ABI_VERSION; }

int mode_last_error_parts(mode_error *error) {
    const failure *kept = last_error();
    if (!error) return fail(MODE_ERROR_ARGUMENT, "error is NULL");
    if (error->size != sizeof *error) return fail(MODE_ERROR_ARGUMENT, "error.size must be sizeof(mode_error)");
    *error = kept ? kept->parts : (mode_error){.place = -1};
    error->size = sizeof *error;
    return MODE_OK;
}
