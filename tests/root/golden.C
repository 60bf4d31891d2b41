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
        mode_handle *m = mode_new(c.options);
        std::vector<double> grad(c.n);
        const mode_events events = events_of(&c);
        mode_result found = {sizeof found};
        if (!m || mode_loss(m, &events, &found, grad.data())) {
            fprintf(stderr, "%s: %s\n", c.name, mode_last_error());
            return 1;
        }
        mode_free(m);
        printf("case %.17g", found.loss);
        for (double g : grad) printf(" %.17g", g);
        printf("\n");
    }
    return 0;
}
