R__ADD_INCLUDE_PATH($LIBMODE/include)
R__LOAD_LIBRARY($LIBMODE/lib/libmode.so)
R__LOAD_LIBRARY($CALL_LIBRARY)
#include "call.h"

#include <TRandom3.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

extern "C" double compiled_call(size_t n, const float *score, const float *mass, float *grad);

int call_cost(size_t n = 1000000, int calls = 100) {
    TRandom3 random(1);
    std::vector<float> score(n), mass(n), grad(n);
    for (size_t i = 0; i < n; i++) {
        score[i] = random.Rndm();
        mass[i] = 50 + random.Exp(60);
    }
    mode_set_threads(1);
    double c = INFINITY, macro = INFINITY;
    for (int k = 0; k < calls; k++) {
        c = std::min(c, compiled_call(n, score.data(), mass.data(), grad.data()));
        macro = std::min(macro, call_milliseconds(n, score.data(), mass.data(), grad.data()));
    }
    printf("%zu events: C %.4f ms, macro %.4f ms, ratio %.3f\n", n, c, macro, macro / c);
    return c < 0 || macro < 0; // an error
}
