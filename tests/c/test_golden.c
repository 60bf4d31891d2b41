/*
 * The golden cases through the four functions of the loss, in both precisions.
 * Usage: test_golden FILE, where golden_to_text.py has written FILE.
 */
#include <math.h>

#include "check.h"
#include "golden.h"

/* Relative to the largest element. */
static const double double_tolerance = 1e-9, float_tolerance = 1e-5;

static void compare(const golden_case *c, int status, double loss, const double *grad, double tolerance) {
    double largest = 0, worst = 0;
    CHECK(status == MODE_OK, "%s: %s", c->name, mode_last_error());
    CHECK(fabs(loss - c->loss) <= tolerance * fabs(c->loss), "%s: loss %.17g, want %.17g", c->name, loss, c->loss);
    if (!grad) return;
    for (size_t i = 0; i < c->n; i++) {
        largest = fmax(largest, fabs(c->grad[i]));
        if (!(fabs(grad[i] - c->grad[i]) <= worst)) worst = fabs(grad[i] - c->grad[i]); /* NaN too */
    }
    CHECK(worst <= tolerance * largest, "%s: gradient off by %.3g of %.3g", c->name, worst, largest);
}

static float *floats(const double *values, size_t n) {
    float *out;
    if (!values) return NULL;
    out = malloc(n * sizeof *out);
    if (!out) abort();
    for (size_t i = 0; i < n; i++) out[i] = (float)values[i];
    return out;
}

static void check_case(const golden_case *c) {
    double loss = 0, *grad = calloc(c->n, sizeof *grad);
    float *score = floats(c->score, c->n), *mass = floats(c->mass, c->n), *weight = floats(c->weight, c->n);
    float *single = calloc(c->n, sizeof *single);
    int status;
    if (!grad || !single) abort();

    status = mode_loss_grad_f64(&c->options, c->n, c->score, c->mass, c->weight, NULL, 0, &loss, grad);
    compare(c, status, loss, grad, double_tolerance);
    status = mode_loss_f64(&c->options, c->n, c->score, c->mass, c->weight, NULL, 0, &loss);
    compare(c, status, loss, NULL, double_tolerance);

    status = mode_loss_grad_f32(&c->options, c->n, score, mass, weight, NULL, 0, &loss, single);
    for (size_t i = 0; i < c->n; i++) grad[i] = single[i];
    compare(c, status, loss, grad, float_tolerance);
    status = mode_loss_f32(&c->options, c->n, score, mass, weight, NULL, 0, &loss);
    compare(c, status, loss, NULL, float_tolerance);

    free(grad);
    free(single);
    free(score);
    free(mass);
    free(weight);
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    golden_case c;
    if (!file) {
        fprintf(stderr, "usage: test_golden FILE\n");
        return EXIT_FAILURE;
    }
    while (read_case(file, &c)) {
        check_case(&c);
        free_case(&c);
    }
    fclose(file);
    return finish();
}
