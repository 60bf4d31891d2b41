/*
 * The table of errors, tests/helpers/error_cases.py, through C: every call returns its status,
 * leaves its results as they were, and names what is wrong.
 * write_cases.py writes error_cases.h.
 */
#include <math.h>

#include "check.h"
#include "error_cases.h" /* cases, struct error, from_python, OF_C */

enum { N = 60 };
static const double UNTOUCHED = -7;

/* One that is wrong with the options alone is found by every function that takes options. */
static int is_of_options(int status) { return status == MODE_ERROR_OPTION || status == MODE_ERROR_ARGUMENT; }

static void expect(const struct error *want, int status, const char *how) {
    CHECK(status == want->status, "%s, %s: status %d, want %d", want->input, how, status, want->status);
    CHECK(strstr(mode_last_error(), want->words) && strstr(mode_last_error(), want->more), "%s, %s: \"%s\"", want->input, how,
          mode_last_error());
}

static void expect_everywhere(const struct error *want, const golden_case *c) {
    const mode_options options = c->options(), *o = &options;
    const void *masses[3] = {c->mass[0], c->mass[1], c->mass[2]};
    const mode_events events = events_of(c, c->score, masses, c->weight);
    mode_result result = {UNTOUCHED, UNTOUCHED, UNTOUCHED};
    double *grad = calloc(c->n + 1, sizeof *grad);
    size_t count = 7;
    if (!grad) abort();
    expect(want, mode_evaluate_f64(o, &events, &result, grad, NULL), "gradient");
    if (want->status != MODE_ERROR_OVERFLOW) expect(want, mode_evaluate_f64(o, &events, &result, NULL, NULL), "loss");
    if (mode_options_check(o)) {
        const float f[1] = {0};
        const void *const float_masses[3] = {f, f, f};
        mode_events in_float = events;
        in_float.n = 1;
        in_float.score = in_float.weight = f;
        in_float.mass = float_masses;
        CHECK(is_of_options(want->status), "%s: %s", want->input, mode_last_error());
        expect(want, mode_options_check(o), "mode_options_check");
        expect(want, mode_evaluate_f32(o, &in_float, &result, NULL, NULL), "f32");
        expect(want, mode_edges_f64(o, &events, 1, grad, &count), "edges");
        expect(want, mode_moments_f64(o, &events, 0, NULL, 4, NULL, NULL, NULL), "moments");
    }
    CHECK(result.loss == UNTOUCHED && count == 7, "%s: a result was written", want->input);
    free(grad);
}

/* A good call, which the statements of a case spoil. Without a call among them the loss is computed. */
#define OF_C_CASE(statements, call, status_, words_, more_)                                                        \
    do {                                                                                                           \
        const struct error want = {#statements "; " #call, status_, words_, more_};                                \
        mode_options options;                                                                                      \
        mode_variable variable[4];                                                                                 \
        mode_events events;                                                                                        \
        mode_option option;                                                                                        \
        mode_steering steering;                                                                                    \
        mode_pushed pushed;                                                                                        \
        mode_result result = {UNTOUCHED, UNTOUCHED, UNTOUCHED};                                                    \
        double score[N], mass[N], weight[N], grad[N];                                                              \
        int32_t label[N];                                                                                          \
        const void *masses[2] = {mass, mass};                                                                      \
        size_t count = 7;                                                                                          \
        for (int i = 0; i < N; i++) score[i] = (i + 0.5) / (double)N, mass[i] = i, weight[i] = 1, label[i] = 0;            \
        mode_options_init(&options, sizeof options);                                                               \
        mode_events_init(&events, sizeof events);                                                                  \
        mode_steering_init(&steering, sizeof steering);                                                            \
        for (int k = 0; k < 4; k++) mode_variable_init(&variable[k], sizeof *variable);                            \
        options.bins = 4, events.n = N, events.score = score, events.mass = masses, events.n_mass = 1;             \
        events.weight = weight, events.label = label;                                                              \
        (void)option, (void)pushed, (void)count, (void)grad;                                                       \
        statements;                                                                                                \
        expect(&want, call, "C");                                                                                  \
        CHECK(result.loss == UNTOUCHED, "%s: a result was written", want.input);                                   \
    } while (0)

int main(void) {
    for (size_t k = 0; k < sizeof from_python / sizeof *from_python; k++) expect_everywhere(&from_python[k], &cases[k]);
    OF_C
    return finish();
}
