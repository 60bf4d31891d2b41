/*
 * The table of errors, tests/helpers/error_cases.py, through C: every call returns its status,
 * leaves its results as they were, and names what is wrong.
 * write_cases.py writes error_cases.h.
 */
#include <math.h>

#include "../../capi/private.h"
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

static mode_result_f64 begun(double *grad, int quality) {
    const mode_result_f64 result = {.struct_size = sizeof result, .grad = grad, .quality = quality,
                                    .loss = UNTOUCHED, .bias = UNTOUCHED, .events = UNTOUCHED};
    return result;
}

static void expect_everywhere(const struct error *want, const golden_case *c) {
    const mode_options options = c->options(), *o = &options;
    const mode_events_f64 events = events_of(c);
    double *grad = calloc(c->n + 1, sizeof *grad);
    mode_result_f64 result = begun(grad, 1), alone = begun(NULL, 0);
    mode_table table = {.struct_size = sizeof table, .n_bins = 7};
    if (!grad) abort();
    expect(want, mode_evaluate_f64(o, &events, &result), "gradient");
    if (want->status != MODE_ERROR_OVERFLOW) expect(want, mode_evaluate_f64(o, &events, &alone), "loss");
    if (mode_options_check(o)) {
        const float f[1] = {0};
        const float *const float_masses[3] = {f, f, f};
        mode_events_f32 in_float;
        memset(&in_float, 0, sizeof in_float);
        in_float.struct_size = sizeof in_float;
        in_float.n = 1, in_float.n_mass = events.n_mass;
        in_float.score = in_float.weight = f;
        in_float.mass = float_masses;
        mode_result_f32 of_float = {.struct_size = sizeof of_float};
        CHECK(is_of_options(want->status), "%s: %s", want->input, mode_last_error());
        expect(want, mode_options_check(o), "mode_options_check");
        expect(want, mode_evaluate_f32(o, &in_float, &of_float), "f32");
        expect(want, mode_table_f64(o, &events, &table), "edges");
        table.moments = grad;
        expect(want, mode_table_f64(o, &events, &table), "moments");
    }
    CHECK(result.loss == UNTOUCHED && result.bias == UNTOUCHED && alone.loss == UNTOUCHED && table.n_bins == 7,
          "%s: a result was written", want->input);
    free(grad);
}

/* A good call, which the statements of a case spoil. Without a call among them the loss is computed. */
#define OF_C_CASE(statements, call, status_, words_, more_)                                                        \
    do {                                                                                                           \
        const struct error want = {#statements "; " #call, status_, words_, more_};                                \
        mode_options options;                                                                                      \
        mode_variable variable[4];                                                                                 \
        mode_events_f64 events;                                                                                    \
        mode_option option;                                                                                        \
        mode_constraint constraint;                                                                                \
        mode_rows_f64 pushed;                                                                                      \
        mode_table table;                                                                                          \
        double loss = UNTOUCHED;                                                                                   \
        double score[N], mass[N], weight[N], grad[N];                                                              \
        int32_t label[N];                                                                                          \
        const double *masses[2] = {mass, mass};                                                                    \
        mode_result_f64 result = begun(grad, 1);                                                                   \
        mode_result_f32 of_float = {.struct_size = sizeof of_float};                                               \
        double room[4 * N];                                                                                        \
        for (int i = 0; i < N; i++) score[i] = (i + 0.5) / (double)N, mass[i] = i, weight[i] = 1, label[i] = 0;            \
        mode_options_init(&options, sizeof options);                                                               \
        memset(&events, 0, sizeof events);                                                                         \
        memset(&constraint, 0, sizeof constraint);                                                                 \
        memset(&pushed, 0, sizeof pushed);                                                                         \
        memset(&table, 0, sizeof table);                                                                           \
        memset(&option, 0, sizeof option);                                                                         \
        events.struct_size = sizeof events, constraint.struct_size = sizeof constraint;                            \
        pushed.struct_size = sizeof pushed, option.struct_size = sizeof option, table.struct_size = sizeof table;  \
        pushed.push = room, pushed.multiplier = room + N, pushed.slope = room + 2 * N, pushed.part = room + 3 * N;   \
        table.edges = room, table.capacity = 4;                                                                    \
        for (int k = 0; k < 4; k++) mode_variable_init(&variable[k], sizeof *variable);                            \
        options.bins = 4, events.n = N, events.score = score, events.mass = masses, events.n_mass = 1;             \
        events.weight = weight, events.label = label;                                                              \
        (void)option, (void)pushed, (void)table, (void)of_float;                                                   \
        statements;                                                                                                \
        expect(&want, call, "C");                                                                                  \
        CHECK(loss == UNTOUCHED && result.loss == UNTOUCHED, "%s: a result was written", want.input);              \
    } while (0)

int main(void) {
    for (size_t k = 0; k < sizeof from_python / sizeof *from_python; k++) expect_everywhere(&from_python[k], &cases[k]);
    OF_C
    return finish();
}
