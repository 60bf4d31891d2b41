/* CPU time of one call, whatever else the machine does: compiled by call.c, interpreted by call_cost.C. */
#include <mode.h>
#include <time.h>

static inline double call_milliseconds(size_t n, const float *score, const float *mass, float *grad) {
    struct timespec start, end;
    mode_events events = {sizeof events, n, MODE_FLOAT32};
    mode_result result = {sizeof result};
    mode_handle *m = mode_new("");
    events.score = score, events.mass = mass;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    if (mode_loss(m, &events, &result, grad)) return -1;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    mode_free(m);
    return 1e3 * (double)(end.tv_sec - start.tv_sec) + 1e-6 * (double)(end.tv_nsec - start.tv_nsec);
}
