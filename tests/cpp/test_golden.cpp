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
void check_case(const golden_case &c, double tolerance) {
    const arguments<T> given(c);
    const mode::options options(c.options);
    const mode::events<T> events = given.events();
    std::vector<T> grad(c.n);
    const double loss = mode::loss(options, events), again = mode::loss(options, events, grad);
    CHECK(std::fabs(loss - c.loss) <= tolerance * std::fabs(c.loss), "%s: loss %.17g, want %.17g", c.name, loss, c.loss);
    CHECK(again == loss, "%s: %.17g with the gradient, %.17g without", c.name, again, loss);
    double largest = 0, worst = 0;
    for (std::size_t i = 0; i < c.n; i++) {
        const double off = std::fabs(static_cast<double>(grad[i]) - c.grad[i]);
        largest = std::fmax(largest, std::fabs(c.grad[i]));
        if (!(off <= worst)) worst = off; // NaN too
    }
    CHECK(worst <= tolerance * largest, "%s: gradient off by %.3g of %.3g", c.name, worst, largest);
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
