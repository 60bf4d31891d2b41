// The golden cases through mode.hpp: vectors of double and float, with and without the gradient.
// tests/c/write_cases.py writes golden.h.
#include <cmath>
#include <string>

#include "../c/check.h"
#include "golden.h"
#include "mode.hpp"

namespace {

// A golden case as the arguments of mode.hpp, in double or float.
template <class T>
struct arguments {
    explicit arguments(const golden_case &c)
        : score(vector(c.score, c.n)), weight(vector(c.weight, c.n)),
          weights(c.weight ? mode::view<const T>(weight) : mode::view<const T>()),
          label(c.label ? mode::labels(c.label, c.n) : mode::labels()),
          category(c.category ? mode::labels(c.category, c.n) : mode::labels()) {
        for (std::int32_t k = 0; k < c.n_mass; k++) mass.push_back(vector(c.mass + static_cast<std::size_t>(k) * c.n, c.n));
    }
    arguments(const arguments &) = delete; // the views are of these vectors
    arguments &operator=(const arguments &) = delete;

    mode::events<T> events() const {
        return mode::events<T>(score, label, std::vector<mode::view<const T>>(mass.begin(), mass.end()), weights, category);
    }

    std::vector<T> score, weight;
    std::vector<std::vector<T>> mass;
    mode::view<const T> weights;
    mode::labels label, category;

private:
    static std::vector<T> vector(const double *values, std::size_t n) {
        return std::vector<T>(values, values + (values ? n : 0));
    }
};

// As in tests/c/test_golden.c, relative to the largest element.
const double double_tolerance = 1e-9, float_tolerance = 1e-5;

template <class T>
void check_case(const golden_case &c, double tolerance) {
    const arguments<T> given(c);
    const mode::handle options(c.options);
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

int main() {
    for (const golden_case &c : cases) {
        check_case<double>(c, double_tolerance);
        check_case<float>(c, float_tolerance);
    }
    return finish();
}
