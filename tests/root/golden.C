/*
 * Prints the loss and the gradient of every golden case, one case a line.
 * Usage: root -l -b -q 'golden.C("mode_loss.txt")', where golden_to_text.py has written the file.
 */
R__ADD_INCLUDE_PATH($LIBMODE/include)
R__LOAD_LIBRARY($LIBMODE/lib/libmode.so)
#include <mode.h>

#include <cstdio>
#include <vector>

std::vector<double> golden_doubles(FILE *file, size_t n) {
    std::vector<double> values(n);
    for (double &value : values)
        if (fscanf(file, "%lf", &value) != 1) throw "the file of cases ends too soon";
    return values;
}

int golden(const char *file_name) {
    FILE *file = fopen(file_name, "r");
    int cases = 0;
    if (!file || fscanf(file, "%d", &cases) != 1) return 1;
    for (int k = 0; k < cases; k++) {
        mode_options o;
        size_t n, n_edges;
        int weights;
        char name[128];
        mode_options_init(&o, sizeof o);
        if (fscanf(file, " %127[^\n]%d %d %d %d %d %d %d %d %lf %lf %lf %lf %lf %lf %zu", name, &o.order, &o.bins,
                   &o.binning, &o.moments, &o.slope_of, &o.reduction, &o.monotonic, &o.unbiased, &o.max_slope,
                   &o.slope_penalty, &o.mass_range[0], &o.mass_range[1], &o.score_range[0], &o.score_range[1],
                   &n_edges) != 16)
            return 1;
        std::vector<double> edges = golden_doubles(file, n_edges);
        o.n_edges = n_edges;
        if (n_edges) o.edges = edges.data();
        if (fscanf(file, "%zu %d", &n, &weights) != 2) return 1;
        golden_doubles(file, 1); // the loss wanted: the caller compares
        std::vector<double> score = golden_doubles(file, n), mass = golden_doubles(file, n);
        std::vector<double> weight = golden_doubles(file, weights ? n : 0), grad = golden_doubles(file, n);
        double loss;
        if (mode_loss_grad_f64(&o, n, score.data(), mass.data(), weights ? weight.data() : nullptr, nullptr, &loss,
                               grad.data())) {
            fprintf(stderr, "%s: %s\n", name, mode_last_error());
            return 1;
        }
        printf("case %.17g", loss);
        for (double g : grad) printf(" %.17g", g);
        printf("\n");
    }
    return 0;
}
