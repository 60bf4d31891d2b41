/*
 * The public functions of mode.h. They refuse to enter Go in a forked child,
 * bring structs of any known size to today's, keep the message of the last
 * error for the thread, and leave the rest to exports.go.
 */
#include "mode.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"
#include "signals.h"

enum { MESSAGE_SIZE = 1024, MAX_VARIABLES = 3 };

/*
 * The key of each thread's message, MESSAGE_SIZE bytes that are allocated with the first one. Not __thread: a library
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

/* Keeps the message of an error, unless there is no memory for it. */
static int fail(int status, const char *text) {
    char *kept = have_key ? pthread_getspecific(message_key) : NULL;
    if (have_key && !kept) {
        kept = malloc(MESSAGE_SIZE);
        if (kept && pthread_setspecific(message_key, kept)) {
            free(kept);
            kept = NULL;
        }
    }
    if (kept) snprintf(kept, MESSAGE_SIZE, "%s", text);
    return status;
}

const char *mode_last_error(void) {
    const char *kept = have_key ? pthread_getspecific(message_key) : NULL;
    return kept ? kept : "";
}

/* Ends a call into Go. */
static int finish(int status, const char *text) { return status ? fail(status, text) : MODE_OK; }

/* Begins a call into Go, whose threads do not survive a fork: a call could wait for them for ever. */
static int enter(void) {
    if (forked)
        return fail(MODE_ERROR_FORKED,
                    "libmode was loaded before fork() and cannot be used in the child: "
                    "load a copy of it under another path there, or start children by spawn");
    move_handlers_off_the_stack();
    return MODE_OK;
}

/* A struct that the caller begins with its init function: its name, size in the first release, and size today. */
#define SIZES(name, last) #name, offsetof(mode_##name, last) + sizeof((mode_##name){0}.last), sizeof(mode_##name)
#define OPTIONS SIZES(options, n_background_label)
#define VARIABLE SIZES(variable, n_edges)
#define EVENTS SIZES(events, smoothing)
#define STEERING SIZES(steering, logits)

/* Checks that this library knows the size of a struct. */
static int check_size(const char *what, size_t first, size_t now, size_t size) {
    char text[MESSAGE_SIZE];
    if (size >= first && size <= now) return MODE_OK;
    snprintf(text, sizeof text,
             "%s.struct_size = %zu, but this library (%s) knows sizes from %zu to %zu: "
             "call mode_%s_init(&%s, sizeof %s) first, and compile against the header of the library in use",
             what, size, MODE_VERSION, first, now, what, what, what);
    return fail(MODE_ERROR_ARGUMENT, text);
}

static int refuse_null(const char *what) {
    char text[MESSAGE_SIZE];
    snprintf(text, sizeof text, "%s is NULL", what);
    return fail(MODE_ERROR_ARGUMENT, text);
}

/* Sets a struct of the caller's size to its defaults. */
static int init(const char *what, size_t first, size_t now, void *to, const void *full, size_t size) {
    int status = to ? check_size(what, first, now, size) : refuse_null(what);
    if (!status) memcpy(to, full, size);
    return status;
}

/* Sets `full` to the caller's struct at today's size. The size is the first member of each struct. */
static int copy(const char *what, size_t first, size_t now, void *full, const void *from) {
    size_t size = from ? *(const size_t *)from : 0;
    int status = from ? check_size(what, first, now, size) : refuse_null(what);
    if (status) return status;
    memset(full, 0, now);
    memcpy(full, from, size);
    return MODE_OK;
}

int mode_options_init(mode_options *options, size_t struct_size) {
    mode_options full;
    int status = enter();
    if (status) return status;
    modeDefaults(&full);
    full.struct_size = struct_size;
    return init(OPTIONS, options, &full, struct_size);
}

int mode_variable_init(mode_variable *variable, size_t struct_size) {
    const mode_variable full = {.struct_size = struct_size, .mass_range = {-INFINITY, INFINITY}};
    return init(VARIABLE, variable, &full, struct_size);
}

int mode_events_init(mode_events *events, size_t struct_size) {
    const mode_events full = {.struct_size = struct_size};
    return init(EVENTS, events, &full, struct_size);
}

int mode_steering_init(mode_steering *steering, size_t struct_size) {
    const mode_steering full = {.struct_size = struct_size};
    return init(STEERING, steering, &full, struct_size);
}

/*
 * Whether each variable was begun by mode_variable_init. If there are more variables than Go accepts, it reads none
 * of them. mode_variable has had one size so far; a second size must be converted here.
 */
static int check_variables(const mode_options *options) {
    size_t n = options->n_variables <= MAX_VARIABLES ? options->n_variables : 0;
    int status = MODE_OK;
    for (size_t k = 0; options->variables && !status && k < n; k++) status = check_size(VARIABLE, options->variables[k].struct_size);
    return status;
}

/* Enters with the caller's options, or the defaults, at today's size. */
static int prepare(mode_options *full, const mode_options *options) {
    int status = enter();
    if (status) return status;
    if (options && (status = check_size(OPTIONS, options->struct_size))) return status;
    if (!options || options->struct_size < sizeof *full) modeDefaults(full);
    if (options) memcpy(full, options, options->struct_size);
    return check_variables(full);
}

/* Begins a function that calls Go with the options as `full` and room for a message, `text`. */
#define ENTER(options)                    \
    mode_options full;                    \
    char text[MESSAGE_SIZE];              \
    int status = prepare(&full, options); \
    text[0] = 0;                          \
    if (status) return status

int mode_options_check(const mode_options *options) {
    ENTER(options);
    return finish(modeCheck(&full, text, sizeof text), text);
}

size_t mode_option_count(void) { return enter() ? 0 : modeOptionCount(); }

int mode_option_at(size_t k, mode_option *option) {
    ENTER(NULL);
    return finish(modeOption(k, option, text, sizeof text), text);
}

/* ENTER for a function that takes events too, as `all`. */
#define ENTER_WITH_EVENTS(options, events) \
    mode_events all;                       \
    ENTER(options);                        \
    if ((status = copy(EVENTS, &all, events))) return status

/* Whether a type is float, which tells Go what arrays hold. */
#define SINGLE(real) (sizeof(real) == sizeof(float))

/* The functions that take arrays of events, for one type of scores, masses and weights. */
#define OF_TYPE(real, suffix)                                                                                          \
    int mode_evaluate_##suffix(const mode_options *options, const mode_events *events, mode_result *result,            \
                               real *grad, real *hess) {                                                               \
        ENTER_WITH_EVENTS(options, events);                                                                            \
        return finish(modeEvaluate(SINGLE(real), &full, &all, result, grad, hess, text, sizeof text), text);           \
    }                                                                                                                  \
    int mode_direction_##suffix(const mode_options *options, const mode_events *events,                                \
                                const mode_steering *steering, mode_pushed *found, real *push, real *multiplier,       \
                                real *slope) {                                                                         \
        mode_steering how;                                                                                             \
        ENTER_WITH_EVENTS(options, events);                                                                            \
        if ((status = copy(STEERING, &how, steering))) return status;                                                  \
        return finish(modeDirection(SINGLE(real), &full, &all, &how, found, push, multiplier, slope, text, sizeof text), text);\
    }                                                                                                                  \
    int mode_distance_correlation_##suffix(size_t n, const real *x, const real *y, const real *weight, int unbiased,   \
                                           double *value, real *grad_x, real *grad_y) {                                \
        ENTER(NULL);                                                                                                   \
        return finish(modeDistanceCorrelation(SINGLE(real), n, (real *)x, (real *)y, (real *)weight, unbiased, value,  \
                                                         grad_x, grad_y, text, sizeof text),                           \
                      text);                                                                                           \
    }                                                                                                                  \
    int mode_edges_##suffix(const mode_options *options, const mode_events *events, size_t capacity, double *edges,    \
                            size_t *n_edges) {                                                                         \
        ENTER_WITH_EVENTS(options, events);                                                                            \
        return finish(modeEdges(SINGLE(real), &full, &all, capacity, edges, n_edges, text, sizeof text), text);        \
    }                                                                                                                  \
    int mode_moments_##suffix(const mode_options *options, const mode_events *events, size_t n_at, const double *at,   \
                              size_t n_bins, double *cdf, double *moments, double *bounded) {                          \
        ENTER_WITH_EVENTS(options, events);                                                                            \
        return finish(modeMoments(SINGLE(real), &full, &all, n_at, (double *)at, n_bins, cdf, moments, bounded, text,  \
                                             sizeof text),                                                             \
                      text);                                                                                           \
    }

OF_TYPE(float, f32)
OF_TYPE(double, f64)

size_t mode_state_size(size_t labels) {
    return enter() ? 0 : modeStateSize(labels);
}

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
