/*
 * The public functions of mode.h. They refuse to enter Go in a forked child,
 * check the sizes of structs, keep the message of the last error for the thread,
 * and leave the rest to exports.go.
 */
#include "mode.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"
#include "failure.h"
#include "signals.h"
#include "start.h"

enum { MAX_VARIABLES = 3 };

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

/* Ends a call into Go. */
static int finish(int status, const failure *failed) { return status ? keep(failed) : MODE_OK; }

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

static int refuse_null(const char *what) {
    char text[MESSAGE_SIZE];
    snprintf(text, sizeof text, "%s is NULL", what);
    return fail(MODE_ERROR_ARGUMENT, text);
}

/* A struct of the caller, as check_struct takes it: the name of its type and of the argument, and how the caller sets its size. */
#define OPTIONS options, "options", "call mode_options_init(&options, sizeof options) first"
#define VARIABLE variable, "variable", "call mode_variable_init(&variable, sizeof variable) first"
#define PLAIN(type, name) type, name, "set the struct to 0, and struct_size to sizeof(mode_" #type ")"
#define EVENTS(suffix) PLAIN(events_##suffix, "events")

/* Checks a struct of a type: its size, and that the room behind its members is 0. */
#define CHECK_STRUCT(...) CHECK_STRUCT_OF(__VA_ARGS__)
#define CHECK_STRUCT_OF(type, name, remedy, from) \
    check_struct(name, remedy, from, sizeof(mode_##type), offsetof(mode_##type, reserved))

static int check_size(const char *name, const char *remedy, size_t size, size_t want) {
    char text[MESSAGE_SIZE];
    if (size == want) return MODE_OK;
    snprintf(text, sizeof text,
             "%s.struct_size = %zu, but the struct has %zu bytes in this library (%s): %s, "
             "and compile against the header of the library in use",
             name, size, want, MODE_VERSION, remedy);
    return fail(MODE_ERROR_ARGUMENT, text);
}

static int check_struct(const char *name, const char *remedy, const void *from, size_t size, size_t reserved) {
    char text[MESSAGE_SIZE];
    int status = from ? check_size(name, remedy, *(const size_t *)from, size) : refuse_null(name);
    if (status) return status;
    for (size_t k = 0; k < (size - reserved) / sizeof(uint64_t); k++) {
        uint64_t value;
        memcpy(&value, (const char *)from + reserved + k * sizeof value, sizeof value);
        if (!value) continue;
        snprintf(text, sizeof text, "%s.reserved[%zu] is not 0, and this library (%s) does not know its meaning: %s", name, k,
                 MODE_VERSION, remedy);
        return fail(MODE_ERROR_ARGUMENT, text);
    }
    return MODE_OK;
}

/* Float and double have the same struct, so that Go needs one. */
_Static_assert(sizeof(mode_events_f32) == sizeof(mode_events_f64), "mode_events_f32");

int mode_options_init(mode_options *options, size_t struct_size) {
    int status = enter();
    if (!status) status = options ? check_size("options", "give sizeof(mode_options)", struct_size, sizeof *options) : refuse_null("options");
    if (!status) modeDefaults(options);
    return status;
}

int mode_variable_init(mode_variable *variable, size_t struct_size) {
    int status = variable ? check_size("variable", "give sizeof(mode_variable)", struct_size, sizeof *variable) : refuse_null("variable");
    if (!status) *variable = (mode_variable){.struct_size = struct_size, .mass_range = {-INFINITY, INFINITY}};
    return status;
}

/* Enters with the caller's options, or with the defaults in `room`. If there are more variables than Go accepts, it reads none. */
static int prepare(const mode_options **options, mode_options *room) {
    int status = enter();
    if (status) return status;
    if (!*options) {
        modeDefaults(room);
        *options = room;
    }
    if ((status = CHECK_STRUCT(OPTIONS, *options))) return status;
    const size_t n = (*options)->variables && (*options)->n_variables <= MAX_VARIABLES ? (*options)->n_variables : 0;
    for (size_t k = 0; !status && k < n; k++) status = CHECK_STRUCT(VARIABLE, &(*options)->variables[k]);
    return status;
}

/* Begins a function that calls Go with `options`, and room for an error, `failed`. */
#define ENTER(options)                       \
    mode_options defaults;                   \
    failure failed;                          \
    int status = prepare(&options, &defaults); \
    if (status) return status

int mode_options_check(const mode_options *options) {
    ENTER(options);
    return finish(modeCheck((mode_options *)options, &failed), &failed);
}

size_t mode_option_count(void) { return enter() ? 0 : modeOptionCount(); }

int mode_option_at(size_t k, mode_option *option) {
    const mode_options *options = NULL;
    ENTER(options);
    if ((status = CHECK_STRUCT(PLAIN(option, "option"), option))) return status;
    return finish(modeOption(k, option, &failed), &failed);
}

/* ENTER for a function that takes events too. */
#define ENTER_WITH_EVENTS(suffix) \
    ENTER(options);               \
    if ((status = CHECK_STRUCT(EVENTS(suffix), events))) return status

/* What Go takes: whether arrays are float, the options and the events. Go writes to none of them. */
#define GIVEN(real) sizeof(real) == sizeof(float), (mode_options *)options, (mode_events_f64 *)events

/* The functions that take arrays of events, for one type of scores, masses and weights. */
#define OF_TYPE(real, suffix)                                                                                          \
    int mode_evaluate_##suffix(const mode_options *options, const mode_events_##suffix *events, double *loss,          \
                               real *grad, mode_quality *quality, double smoothing, real *hess) {                      \
        ENTER_WITH_EVENTS(suffix);                                                                                     \
        if (quality && (status = CHECK_STRUCT(PLAIN(quality, "quality"), quality))) return status;                     \
        return finish(modeEvaluate(GIVEN(real), loss, grad, quality, smoothing, hess, &failed), &failed);                    \
    }                                                                                                                  \
    int mode_loss_##suffix(const mode_options *options, size_t n, const real *score, const int32_t *label,             \
                           const real *mass, const real *weight, double *loss, real *grad) {                           \
        const mode_events_##suffix events = {.struct_size = sizeof events, .n = n, .score = score, .label = label,     \
                                             .mass = &mass, .n_mass = 1, .weight = weight};                            \
        return mode_evaluate_##suffix(options, &events, loss, grad, NULL, 0, NULL);                                    \
    }                                                                                                                  \
    int mode_strengthen_##suffix(const mode_options *options, const mode_events_##suffix *events, mode_strength *strength, \
                                 real *grad) {                                                                         \
        ENTER_WITH_EVENTS(suffix);                                                                                     \
        if ((status = CHECK_STRUCT(PLAIN(strength, "strength"), strength))) return status;                             \
        return finish(modeStrengthen(GIVEN(real), strength, grad, &failed), &failed);                                  \
    }                                                                                                                  \
    int mode_flatness_##suffix(const mode_options *options, const mode_events_##suffix *events, double *loss,          \
                               real *grad) {                                                                           \
        ENTER_WITH_EVENTS(suffix);                                                                                     \
        return finish(modeFlatness(GIVEN(real), loss, grad, &failed), &failed);                                              \
    }                                                                                                                  \
    int mode_constraint_push_##suffix(const mode_options *options, const mode_events_##suffix *events,                 \
                                      const mode_constraint *constraint, mode_constraint_result *found, real *push,    \
                                      real *multiplier, real *slope) {                                                 \
        ENTER_WITH_EVENTS(suffix);                                                                                     \
        if ((status = CHECK_STRUCT(PLAIN(constraint, "constraint"), constraint))) return status;                       \
        if ((status = CHECK_STRUCT(PLAIN(constraint_result, "found"), found))) return status;                          \
        return finish(modeConstraintPush(GIVEN(real), (mode_constraint *)constraint, found, push, multiplier, slope,   \
                                         &failed), &failed);                                                           \
    }                                                                                                                  \
    int mode_distance_correlation_##suffix(size_t n, const real *x, const real *y, const real *weight, int unbiased,   \
                                           double *value, real *grad_x, real *grad_y) {                                \
        const mode_options *options = NULL;                                                                            \
        ENTER(options);                                                                                                \
        return finish(modeDistanceCorrelation(sizeof(real) == sizeof(float), n, (real *)x, (real *)y, (real *)weight,  \
                                              unbiased, value, grad_x, grad_y, &failed),                                  \
                      &failed);                                                                                           \
    }                                                                                                                  \
    int mode_edges_##suffix(const mode_options *options, const mode_events_##suffix *events, size_t capacity,          \
                            double *edges, size_t *n_edges) {                                                          \
        ENTER_WITH_EVENTS(suffix);                                                                                     \
        return finish(modeEdges(GIVEN(real), capacity, edges, n_edges, &failed), &failed);                                   \
    }                                                                                                                  \
    int mode_moments_##suffix(const mode_options *options, const mode_events_##suffix *events, size_t n_at,            \
                              const double *at, size_t capacity, double *cdf, size_t *n_bins, double *moments,         \
                              double *bounded) {                                                                       \
        ENTER_WITH_EVENTS(suffix);                                                                                     \
        return finish(modeMoments(GIVEN(real), n_at, (double *)at, capacity, cdf, n_bins, moments, bounded, &failed),     \
                      &failed);                                                                                           \
    }

OF_TYPE(float, f32)
OF_TYPE(double, f64)

size_t mode_state_size(size_t labels, size_t categories) {
    return enter() ? 0 : modeStateSize(labels, categories);
}

int mode_state_check(const double *state, size_t n_state, size_t labels, size_t categories) {
    const mode_options *options = NULL;
    ENTER(options);
    return finish(modeStateCheck((double *)state, n_state, labels, categories, &failed), &failed);
}

size_t mode_state_field_count(void) { return enter() ? 0 : modeStateFieldCount(); }

int mode_state_field_at(size_t k, mode_state_field *field) {
    const mode_options *options = NULL;
    ENTER(options);
    if ((status = CHECK_STRUCT(PLAIN(state_field, "field"), field))) return status;
    return finish(modeStateField(k, field, &failed), &failed);
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

int mode_last_error_parts(mode_error *error) {
    const failure *kept = last_error();
    int status = CHECK_STRUCT(PLAIN(error, "error"), error);
    if (status) return status;
    const size_t size = error->struct_size;
    *error = kept ? kept->parts : (mode_error){.place = -1};
    error->struct_size = size;
    return MODE_OK;
}

int mode_constraint_verdict(const mode_options *options, const mode_constraint *constraint, mode_verdict *found) {
    ENTER(options);
    if ((status = CHECK_STRUCT(PLAIN(constraint, "constraint"), constraint))) return status;
    if ((status = CHECK_STRUCT(PLAIN(verdict, "found"), found))) return status;
    return finish(modeConstraintVerdict((mode_options *)options, (mode_constraint *)constraint, found, &failed), &failed);
}
