/* One sort, two losses: cc prepared.c $(libmode-config --cflags --libs) -o prepared && ./prepared */
#include <mode.h>
#include <stdio.h>

int main(void) {
    enum { N = 100000 };
    static double score[N], mass[N]; /* background whose score grows linearly with the mass */
    for (int i = 0; i < N; i++) mass[i] = i, score[i] = (i * 7919LL % N + i) / (2.0 * N);
    const double *masses[] = {mass};
    mode_events_f64 events = {.struct_size = sizeof events, .n = N, .score = score, .mass = masses, .n_mass = 1};
    mode_result_f64 result = {.struct_size = sizeof result};
    mode_options options;
    mode_prepared *prepared = NULL;
    int failed = mode_options_init(&options, sizeof options) || mode_prepare_f64(&options, &events, &prepared); /* bins and sorts */
    for (; !failed && options.order < 2; options.order++) {
        failed = mode_prepared_evaluate_f64(prepared, &options, &result);
        if (!failed) printf("order %d: loss %.6e\n", (int)options.order, result.loss);
    }
    if (failed) fprintf(stderr, "%s\n", mode_last_error());
    return mode_prepared_free(prepared) || failed;
}
