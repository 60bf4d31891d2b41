R__ADD_INCLUDE_PATH($LIBMODE/include)
R__LOAD_LIBRARY($LIBMODE/lib/libmode.so)
R__LOAD_LIBRARY($CALL_LIBRARY)
#include "call.h"

#include <TMath.h>
#include <TRandom3.h>
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
    std::vector<double> c, macro;
    for (int k = 0; k < calls; k++) {
        c.push_back(compiled_call(n, score.data(), mass.data(), grad.data()));
        macro.push_back(call_milliseconds(n, score.data(), mass.data(), grad.data()));
        if (c.back() < 0 || macro.back() < 0) return 1;
    }
    double median_c = TMath::Median(calls, c.data()), median_macro = TMath::Median(calls, macro.data());
    printf("%zu events: C %.4f ms, macro %.4f ms, ratio %.3f\n", n, median_c, median_macro, median_macro / median_c);
    return 0;
}
