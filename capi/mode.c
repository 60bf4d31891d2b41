/*
 * The public functions of mode.h. They refuse to enter Go in a forked child,
 * bring options of any known size to today's, keep the message of the last
 * error for the thread, and leave the rest to exports.go.
 */
#include "mode.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"

enum { MESSAGE_SIZE = 1024 };

/*
 * Each thread's message, allocated when it first fails. Not __thread: of such
 * memory a library that is loaded at run time gets little, and a forked child
 * loads a second copy.
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

static int fail(int status, const char *text) {
    char *message = have_key ? pthread_getspecific(message_key) : NULL;
    if (have_key && !message) {
        message = malloc(MESSAGE_SIZE);
        if (message && pthread_setspecific(message_key, message)) {
            free(message);
            message = NULL;
        }
    }
    if (message) snprintf(message, MESSAGE_SIZE, "%s", text);
    return status;
}

const char *mode_last_error(void) {
    const char *message = have_key ? pthread_getspecific(message_key) : NULL;
    return message ? message : "";
}

/* Keeps the message of a call into Go that failed. */
static int finish(int status, const char *text) {
    return status ? fail(status, text) : MODE_OK;
}

/* Go's threads do not survive a fork: a call could wait for them for ever. */
static int check_fork(void) {
    if (forked)
        return fail(MODE_ERROR_FORKED,
                    "libmode was loaded before fork() and cannot be used in the child: "
                    "load a copy of it under another path there, or start children by spawn");
    return MODE_OK;
}

/* The size of mode_options in the first release. */
#define FIRST_SIZE (offsetof(mode_options, n_background_label) + sizeof(size_t))

static int check_size(size_t size) {
    if (size >= FIRST_SIZE && size <= sizeof(mode_options)) return MODE_OK;
    char text[MESSAGE_SIZE];
    snprintf(text, sizeof text,
             "options.struct_size = %zu, but this library (%s) knows sizes from %zu to %zu: "
             "call mode_options_init(&options, sizeof options) first, and compile against the header of the library in use",
             size, MODE_VERSION, (size_t)FIRST_SIZE, sizeof(mode_options));
    return fail(MODE_ERROR_ARGUMENT, text);
}

int mode_options_init(mode_options *options, size_t struct_size) {
    mode_options full;
    int status = check_fork();
    if (status) return status;
    if (!options) return fail(MODE_ERROR_ARGUMENT, "options is NULL");
    if ((status = check_size(struct_size))) return status;
    modeDefaults(&full);
    full.struct_size = struct_size;
    memcpy(options, &full, struct_size);
    return MODE_OK;
}

/* Enters with the caller's options, or the defaults, at today's size. */
static int prepare(mode_options *full, const mode_options *options) {
    int status = check_fork();
    if (status) return status;
    if (options && (status = check_size(options->struct_size))) return status;
    if (!options || options->struct_size < sizeof *full) modeDefaults(full);
    if (options) memcpy(full, options, options->struct_size);
    return MODE_OK;
}

/* Begins a function that calls Go with the options as `full` and room for a message, `text`. */
#define ENTER(options)                          \
    mode_options full;                          \
    char text[MESSAGE_SIZE];                    \
    int status = prepare(&full, options);       \
    if (status) return status

int mode_options_check(const mode_options *options) {
    ENTER(options);
    return finish(modeCheck(&full, text, sizeof text), text);
}

size_t mode_option_count(void) { return forked ? 0 : modeOptionCount(); }

int mode_option_at(size_t k, mode_option *option) {
    ENTER(NULL);
    return finish(modeOption(k, option, text, sizeof text), text);
}

/* The functions that take arrays of events, for one type of scores, masses and weights. */
#define OF_TYPE(real, suffix, go_suffix)                                                                       \
    int mode_loss_grad_##suffix(const mode_options *options, size_t n, const real *score, const real *mass,    \
                                const real *weight, const void *label, int label_type, double *loss,           \
                                real *grad) {                                                                  \
        ENTER(options);                                                                                        \
        return finish(modeLossGrad##go_suffix(&full, n, (real *)score, (real *)mass, (real *)weight,           \
                                              (void *)label, label_type, loss, grad, text, sizeof text),       \
                      text);                                                                                   \
    }                                                                                                          \
    int mode_loss_##suffix(const mode_options *options, size_t n, const real *score, const real *mass,         \
                           const real *weight, const void *label, int label_type, double *loss) {              \
        return mode_loss_grad_##suffix(options, n, score, mass, weight, label, label_type, loss, NULL);        \
    }                                                                                                          \
    int mode_edges_##suffix(const mode_options *options, size_t n, const real *mass, const real *weight,       \
                            const void *label, int label_type, size_t capacity, double *edges,                 \
                            size_t *n_edges) {                                                                 \
        ENTER(options);                                                                                        \
        return finish(modeEdges##go_suffix(&full, n, (real *)mass, (real *)weight, (void *)label, label_type,  \
                                           capacity, edges, n_edges, text, sizeof text),                       \
                      text);                                                                                   \
    }                                                                                                          \
    int mode_moments_##suffix(const mode_options *options, size_t n, const real *score, const real *mass,      \
                              const real *weight, const void *label, int label_type, size_t n_at,              \
                              const double *at, size_t n_bins, double *cdf, double *moments,                   \
                              double *bounded) {                                                               \
        ENTER(options);                                                                                        \
        return finish(modeMoments##go_suffix(&full, n, (real *)score, (real *)mass, (real *)weight,            \
                                             (void *)label, label_type, n_at, (double *)at, n_bins, cdf,       \
                                             moments, bounded, text, sizeof text),                             \
                      text);                                                                                   \
    }

OF_TYPE(float, f32, F32)
OF_TYPE(double, f64, F64)

int mode_set_threads(int threads) {
    int status = check_fork();
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
    int status = check_fork();
    if (status) return status;
    if (!threads) return fail(MODE_ERROR_ARGUMENT, "threads is NULL");
    *threads = modeThreads();
    return MODE_OK;
}

const char *mode_version(void) { return MODE_VERSION; }

int mode_abi_version(void) { return MODE_ABI_VERSION; }
