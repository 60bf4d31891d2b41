/*
 * Prints the loss and the gradient of every golden case, one case a line.
 * Usage: root -l -b -q golden.C, where ROOT_INCLUDE_PATH has the golden.h that tests/c/write_cases.py writes.
 */
R__ADD_INCLUDE_PATH($LIBMODE/include)
R__LOAD_LIBRARY($LIBMODE/lib/libmode.so)
#include "golden.h"

#include <vector>

int golden() {
    for (const golden_case &c : cases) {
        const mode_options options = c.options();
        std::vector<double> grad(c.n);
        const mode_events_f64 events = events_of(&c);
        mode_result_f64 found = {sizeof found, grad.data()};
        if (mode_evaluate_f64(&options, &events, &found)) {
            fprintf(stderr, "%s: %s\n", c.name, mode_last_error());
            return 1;
        }
        printf("case %.17g", found.loss);
        for (double g : grad) printf(" %.17g", g);
        printf("\n");
    }
    return 0;
}
