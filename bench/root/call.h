/* CPU time of one call, whatever else the machine does: compiled by call.c, interpreted by call_cost.C. */
#include <mode.h>
#include <time.h>

static inline double call_milliseconds(size_t n, const float *score, const float *mass, float *grad) {
    struct timespec start, end;
    double loss;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    if (mode_loss_f32(NULL, n, score, NULL, mass, NULL, &loss, grad)) return -1;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    return 1e3 * (double)(end.tv_sec - start.tv_sec) + 1e-6 * (double)(end.tv_nsec - start.tv_nsec);
}
