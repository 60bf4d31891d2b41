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

static void expect(const struct error *want, int status, const char *how) {
    CHECK(status == want->status, "%s, %s: status %d, want %d", want->input, how, status, want->status);
    CHECK(strstr(mode_last_error(), want->words) && strstr(mode_last_error(), want->more), "%s, %s: \"%s\"", want->input, how,
          mode_last_error());
}

static mode_result begun(int quality) {
    const mode_result result = {.size = sizeof result, .quality = quality, .loss = UNTOUCHED, .bias = UNTOUCHED, .events = UNTOUCHED};
    return result;
}

static void expect_everywhere(const struct error *want, const golden_case *c) {
    const mode_events events = events_of(c);
    mode_handle *const m = mode_new(c->options);
    double *grad = calloc(c->n + 1, sizeof *grad);
    mode_result result = begun(1), alone = begun(0);
    if (!grad) abort();
    if (m) {
        expect(want, mode_loss(m, &events, &result, grad), "gradient");
        if (want->status != MODE_ERROR_OVERFLOW) expect(want, mode_loss(m, &events, &alone, NULL), "loss");
    } else {
        expect(want, MODE_ERROR_OPTION, "mode_new");
    }
    CHECK(result.loss == UNTOUCHED && result.bias == UNTOUCHED && alone.loss == UNTOUCHED, "%s: a result was written", want->input);
    mode_free(m);
    free(grad);
}

/* A good call, which the statements of a case spoil. Without a call among them the loss is computed. */
#define OF_C_CASE(statements, call, status_, words_, more_)                                                               \
    do {                                                                                                                  \
        const struct error want = {#statements "; " #call, status_, words_, more_};                                       \
        mode_handle *m = mode_new("bins=4");                                                                              \
        double score[N], mass[2 * N], weight[N], grad[N], room[4 * N], state[324] = {0}, value = UNTOUCHED;               \
        int32_t label[N];                                                                                                 \
        mode_events events = {.size = sizeof events, .n = N, .dtype = MODE_FLOAT64, .score = score, .mass = mass,         \
                              .weight = weight, .label = label};                                                          \
        mode_result result = begun(1);                                                                                    \
        mode_table table = {.size = sizeof table, .edges = room, .capacity = 4};                                          \
        mode_handle *const good = m;                                                                                      \
        for (int i = 0; i < N; i++)                                                                                       \
            score[i] = (i + 0.5) / (double)N, mass[i] = mass[N + i] = i, weight[i] = grad[i] = 1, label[i] = 0;           \
        (void)table, (void)value, (void)state;                                                                            \
        statements;                                                                                                       \
        expect(&want, call, "C");                                                                                         \
        CHECK(value == UNTOUCHED && result.loss == UNTOUCHED && state[1] == 0, "%s: a result was written", want.input);   \
        if (m != good) mode_free(m);                                                                                      \
        mode_free(good);                                                                                                  \
    } while (0)

int main(void) {
    for (size_t k = 0; k < sizeof from_python / sizeof *from_python; k++) expect_everywhere(&from_python[k], &cases[k]);
    OF_C
    return finish();
}
