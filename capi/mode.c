/*
 * The public functions of mode.h. They refuse to enter Go in a forked child,
 * bring options of any known size to today's, keep the message of the last
 * error for the thread, and leave the rest to exports.go.
 */
#include "mode.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "_cgo_export.h"

static __thread char message[1024];
static volatile int forked;

static void mark_child(void) { forked = 1; }

__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(NULL, NULL, mark_child);
}

static int fail(int status, const char *text) {
    snprintf(message, sizeof message, "%s", text);
    return status;
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
    snprintf(message, sizeof message,
             "options.struct_size = %zu, but this library (%s) knows sizes from %zu to %zu: "
             "call mode_options_init(&options, sizeof options) first, and compile against the header of the library in use",
             size, MODE_VERSION, (size_t)FIRST_SIZE, sizeof(mode_options));
    return MODE_ERROR_ARGUMENT;
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

int mode_options_check(const mode_options *options) {
    mode_options full;
    int status = prepare(&full, options);
    if (status) return status;
    return modeCheck(&full, message, sizeof message);
}

int mode_loss_grad_f32(const mode_options *options, size_t n, const float *score,
                       const float *mass, const float *weight, const int32_t *label,
                       double *loss, float *grad) {
    mode_options full;
    int status = prepare(&full, options);
    if (status) return status;
    return modeLossGradF32(&full, n, (float *)score, (float *)mass, (float *)weight,
                           (int32_t *)label, loss, grad, message, sizeof message);
}

int mode_loss_grad_f64(const mode_options *options, size_t n, const double *score,
                       const double *mass, const double *weight, const int32_t *label,
                       double *loss, double *grad) {
    mode_options full;
    int status = prepare(&full, options);
    if (status) return status;
    return modeLossGradF64(&full, n, (double *)score, (double *)mass, (double *)weight,
                           (int32_t *)label, loss, grad, message, sizeof message);
}

int mode_loss_f32(const mode_options *options, size_t n, const float *score,
                  const float *mass, const float *weight, const int32_t *label,
                  double *loss) {
    return mode_loss_grad_f32(options, n, score, mass, weight, label, loss, NULL);
}

int mode_loss_f64(const mode_options *options, size_t n, const double *score,
                  const double *mass, const double *weight, const int32_t *label,
                  double *loss) {
    return mode_loss_grad_f64(options, n, score, mass, weight, label, loss, NULL);
}

int mode_edges(const mode_options *options, size_t n, const double *mass,
               const int32_t *label, size_t capacity, double *edges, size_t *n_edges) {
    mode_options full;
    int status = prepare(&full, options);
    if (status) return status;
    return modeEdges(&full, n, (double *)mass, (int32_t *)label, capacity, edges,
                     n_edges, message, sizeof message);
}

int mode_moments(const mode_options *options, size_t n, const double *score,
                 const double *mass, const double *weight, const int32_t *label,
                 size_t n_at, const double *at, size_t n_bins,
                 double *cdf, double *moments, double *bounded) {
    mode_options full;
    int status = prepare(&full, options);
    if (status) return status;
    return modeMoments(&full, n, (double *)score, (double *)mass, (double *)weight,
                       (int32_t *)label, n_at, (double *)at, n_bins, cdf, moments,
                       bounded, message, sizeof message);
}

int mode_set_threads(int threads) {
    int status = check_fork();
    if (status) return status;
    if (threads < 0) return fail(MODE_ERROR_ARGUMENT, "threads is negative: give 0 for the default or the number of threads");
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

const char *mode_last_error(void) { return message; }

const char *mode_version(void) { return MODE_VERSION; }

int mode_abi_version(void) { return MODE_ABI_VERSION; }
