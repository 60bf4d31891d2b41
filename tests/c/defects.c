/*
 * Defects that a sanitizer must find, or its silence about the tests means nothing.
 * Usage: defects read | write | leak
 */
#include "check.h"

enum { N = 1000 };

/* N - missing doubles; the library is told that they are N. */
static double *doubles(int missing) {
    double *values = malloc((size_t)(N - missing) * sizeof *values);
    if (!values) abort();
    for (int i = 0; i < N - missing; i++) values[i] = i / (double)N;
    return values;
}

int main(int argc, char **argv) {
    const char *defect = argc == 2 ? argv[1] : "";
    double *score = doubles(!strcmp(defect, "read")), *mass = doubles(0), *grad = doubles(!strcmp(defect, "write"));
    const mode_events events = {.size = sizeof events, .n = N, .dtype = MODE_FLOAT64, .score = score, .mass = mass};
    mode_result result = {.size = sizeof result};
    mode_handle *m = mode_new(NULL);
    mode_loss(m, &events, &result, grad);
    mode_free(m);
    free(score);
    free(mass);
    free(grad);
    if (!strcmp(defect, "leak"))
        for (int i = 0; i < 10; i++) doubles(0); /* to the last the stack may still point */
    return EXIT_SUCCESS;
}
