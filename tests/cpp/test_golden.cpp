// The golden cases through mode.hpp: vectors of double and float, with and without the gradient.
// Usage: test_golden FILE, where tests/c/golden_to_text.py has written FILE.
#include <cmath>
#include <string>

#include "../c/check.h"
#include "cases.hpp"

namespace {

// As in tests/c/test_golden.c, relative to the largest element.
const double double_tolerance = 1e-9, float_tolerance = 1e-5;

template <class T>
void compare(const golden_case &c, double loss, const mode::result<T> &both, double tolerance) {
    CHECK(std::fabs(loss - c.loss) <= tolerance * std::fabs(c.loss), "%s: loss %.17g, want %.17g", c.name, loss, c.loss);
    CHECK(both.loss == loss, "%s: %.17g with the gradient, %.17g without", c.name, both.loss, loss);
    CHECK(both.grad.size() == c.n, "%s: %zu elements", c.name, both.grad.size());
    double largest = 0, worst = 0;
    for (std::size_t i = 0; i < c.n; i++) {
        const double off = std::fabs(static_cast<double>(both.grad[i]) - c.grad[i]);
        largest = std::fmax(largest, std::fabs(c.grad[i]));
        if (!(off <= worst)) worst = off; // NaN too
    }
    CHECK(worst <= tolerance * largest, "%s: gradient off by %.3g of %.3g", c.name, worst, largest);
}

template <class T>
void check_case(const golden_case &c, double tolerance) {
    const arguments<T> given(c);
    const mode::options options(c.options);
    const mode::events<T> events = given.events();
    compare(c, mode::loss(options, events), mode::loss_and_grad(options, events), tolerance);
    if (c.n_mass > 1 || c.category) return;
    compare(c, mode::loss(options, given.score, given.mass[0], given.weights, given.label),
            mode::loss_and_grad(options, given.score, given.mass[0], given.weights, given.label), tolerance);
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: test_golden FILE\n");
        return EXIT_FAILURE;
    }
    std::FILE *file = std::fopen(argv[1], "r");
    if (!file) return EXIT_FAILURE;
    golden_case c;
    while (read_case(file, &c)) {
        check_case<double>(c, double_tolerance);
        check_case<float>(c, float_tolerance);
        free_case(&c);
    }
    std::fclose(file);
    return finish();
}
