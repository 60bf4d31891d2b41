/*
 * The functions of mode.h and private.h. They refuse to enter Go in a forked child,
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
#include "call.h"
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

/* A struct of the caller: where it is, its size and where the room behind its members begins, and how it is named in errors. */
typedef struct given {
    const char *name, *remedy;
    void *at;
    size_t size, reserved;
} given;

#define STRUCT(type, name, remedy) {#name, remedy, (void *)(name), sizeof(mode_##type), offsetof(mode_##type, reserved)}
#define GIVEN(type, name) ((given)STRUCT(type, name, "set the struct to 0, and struct_size to sizeof(mode_" #type ")"))
#define NONE ((given){0})

static int check_size(const char *name, const char *remedy, size_t size, size_t want) {
    char text[MESSAGE_SIZE];
    if (size == want) return MODE_OK;
    snprintf(text, sizeof text,
             "%s.struct_size = %zu, but the struct has %zu bytes in this library (%s): %s, "
             "and compile against the header of the library in use",
             name, size, want, MODE_VERSION, remedy);
    return fail(MODE_ERROR_ARGUMENT, text);
}

/* Checks a struct: its size, and that the room behind its members is 0. */
static int check_struct(given one) {
    char text[MESSAGE_SIZE];
    int status = one.at ? check_size(one.name, one.remedy, *(const size_t *)one.at, one.size) : refuse_null(one.name);
    if (status) return status;
    for (size_t k = 0; k < (one.size - one.reserved) / sizeof(uint64_t); k++) {
        uint64_t value;
        memcpy(&value, (const char *)one.at + one.reserved + k * sizeof value, sizeof value);
        if (!value) continue;
        snprintf(text, sizeof text, "%s.reserved[%zu] is not 0, and this library (%s) does not know its meaning: %s", one.name, k,
                 MODE_VERSION, one.remedy);
        return fail(MODE_ERROR_ARGUMENT, text);
    }
    return MODE_OK;
}

/* Structs of float and of double differ only in what pointers point to, so that Go needs one. */
#define ALIKE(type) \
    _Static_assert(sizeof(mode_##type##_f32) == sizeof(mode_##type##_f64), #type)
ALIKE(events);
ALIKE(result);
ALIKE(rows);

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

/* Calls a function of Go. */
static int run(call *of) {
    failure failed;
    of->failed = &failed;
    return modeCall(of) ? keep(&failed) : MODE_OK;
}

static int enter_and_run(call *of) {
    int status = enter();
    return status ? status : run(of);
}

/*
 * Checks the structs of a call, the options first, and calls the function. NULL options are the defaults. If there are more
 * variables than Go accepts, it reads none.
 */
static int run_checked(call *of, const mode_options *options, given events, given how, given out) {
    mode_options defaults;
    const given structs[] = {events, how, out};
    int status = enter();
    if (status) return status;
    if (!options) {
        modeDefaults(&defaults);
        options = &defaults;
    }
    if ((status = check_struct((given)STRUCT(options, options, "call mode_options_init(&options, sizeof options) first")))) return status;
    const size_t n = options->variables && options->n_variables <= MAX_VARIABLES ? options->n_variables : 0;
    for (size_t k = 0; k < n; k++) {
        const mode_variable *variable = &options->variables[k];
        status = check_struct((given)STRUCT(variable, variable, "call mode_variable_init(&variable, sizeof variable) first"));
        if (status) return status;
    }
    for (size_t k = 0; k < sizeof structs / sizeof *structs; k++)
        if (structs[k].name && (status = check_struct(structs[k]))) return status;
    of->options = (mode_options *)options, of->events = events.at, of->how = how.at, of->out = out.at;
    return run(of);
}

int mode_options_check(const mode_options *options) {
    return run_checked(&(call){.function = CHECK}, options, NONE, NONE, NONE);
}

/* The functions that take arrays of events, for one type of scores, masses and weights. */
#define OF_TYPE(real, suffix)                                                                                                \
    int mode_evaluate_##suffix(const mode_options *options, const mode_events_##suffix *events, mode_result_##suffix *result) { \
        return run_checked(&(call){FOR(real, EVALUATE)}, options, GIVEN(events_##suffix, events), NONE,                 \
                           GIVEN(result_##suffix, result));                                                                  \
    }                                                                                                                        \
    int mode_loss_##suffix(const mode_options *options, size_t n, const real *score, const int32_t *label,                   \
                           const real *mass, const real *weight, double *loss, real *grad) {                                 \
        const mode_events_##suffix events = {.struct_size = sizeof events, .n = n, .score = score, .label = label,           \
                                             .mass = &mass, .n_mass = 1, .weight = weight};                                  \
        mode_result_##suffix result = {.struct_size = sizeof result, .grad = grad};                                          \
        return run_checked(&(call){FOR(real, LOSS), .number = loss}, options, GIVEN(events_##suffix, &events), NONE,    \
                           GIVEN(result_##suffix, &result));                                                                 \
    }                                                                                                                        \
    int mode_strengthen_##suffix(const mode_options *options, const mode_events_##suffix *events, mode_strength *strength,   \
                                 real *grad) {                                                                               \
        return run_checked(&(call){FOR(real, STRENGTHEN), .array = grad}, options, GIVEN(events_##suffix, events), NONE, \
                           GIVEN(strength, strength));                                                                       \
    }                                                                                                                        \
    int mode_constraint_push_##suffix(const mode_options *options, const mode_events_##suffix *events,                       \
                                      const mode_constraint *constraint, const mode_rows_##suffix *rows) {                   \
        return run_checked(&(call){FOR(real, PUSH)}, options, GIVEN(events_##suffix, events),                                \
                           GIVEN(constraint, constraint), GIVEN(rows_##suffix, rows));                                       \
    }                                                                                                                        \
    int mode_constraint_apply_##suffix(size_t n, const mode_rows_##suffix *rows, const real *gradient, real *result,         \
                                       double *state, size_t n_state, const double *norms) {                                 \
        return run_checked(&(call){FOR(real, APPLY), .n = n, .array = (void *)gradient, .result = result, .number = state,   \
                                   .n_state = n_state, .norms = (double *)norms},                                            \
                           NULL, NONE, NONE, GIVEN(rows_##suffix, rows));                                                    \
    }                                                                                                                        \
    int mode_table_##suffix(const mode_options *options, const mode_events_##suffix *events, mode_table *table) {            \
        return run_checked(&(call){FOR(real, TABLE)}, options, GIVEN(events_##suffix, events), NONE,                    \
                           GIVEN(table, table));                                                                             \
    }                                                                                                                        \
    int mode_distance_correlation_##suffix(size_t n, const real *x, const real *y, const real *weight, int unbiased,         \
                                           double *value, real *grad_x, real *grad_y) {                                      \
        pair of = {n, unbiased, {(void *)x, (void *)y, (void *)weight, grad_x, grad_y}};                                     \
        return enter_and_run(&(call){FOR(real, CORRELATE), .how = &of, .number = value});                                         \
    }

#define FOR(real, which) .function = which, .single = sizeof(real) == sizeof(float)
OF_TYPE(float, f32)
OF_TYPE(double, f64)

int mode_option_count(size_t *count) { return enter_and_run(&(call){.function = OPTION_COUNT, .count = count}); }

int mode_option_at(size_t k, mode_option *option) {
    return run_checked(&(call){.function = OPTION_AT, .n = k}, NULL, NONE, NONE, GIVEN(option, option));
}

int mode_state_size(size_t labels, size_t categories, size_t *size) {
    return enter_and_run(&(call){.function = STATE_SIZE, .labels = labels, .categories = categories, .count = size});
}

int mode_state_check(const double *state, size_t n_state, size_t labels, size_t categories) {
    return enter_and_run(&(call){.function = STATE_CHECK, .array = (double *)state, .n = n_state, .labels = labels, .categories = categories});
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
    if (!threads) return refuse_null("threads");
    *threads = modeThreads();
    return MODE_OK;
}

const char *mode_version(void) { return MODE_VERSION; }

int mode_abi_version(void) { return MODE_ABI_VERSION; }

int mode_last_error_parts(mode_error *error) {
    const failure *kept = last_error();
    int status = check_struct(GIVEN(error, error));
    if (status) return status;
    *error = kept ? kept->parts : (mode_error){.place = -1};
    error->struct_size = sizeof *error;
    return MODE_OK;
}
