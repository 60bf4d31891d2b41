#define _POSIX_C_SOURCE 199309L
#include "call.h"

double compiled_call(size_t n, const float *score, const float *mass, float *grad) {
    return call_milliseconds(n, score, mass, grad);
}
