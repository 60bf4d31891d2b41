// The golden cases through mode.hpp: vectors of double and float, with and without the gradient.
// Usage: test_golden FILE, where tests/c/golden_to_text.py has written FILE.
#include <cmath>
#include <fstream>
#include <string>

#include "../c/check.h"
#include "mode.hpp"

namespace {

// As in tests/c/test_golden.c, relative to the largest element.
const double double_tolerance = 1e-9, float_tolerance = 1e-5;

// The words of the file, in turn.
class words {
public:
    explicit words(const char *path) : file_(path) { file_.exceptions(std::ios::badbit | std::ios::failbit); }

    std::string line() {
        std::string text;
        std::getline(file_ >> std::ws, text);
        return text;
    }
    double real() { // hexadecimal, which operator>> does not read
        std::string word;
        file_ >> word;
        return std::strtod(word.c_str(), nullptr);
    }
    template <class Integer>
    Integer integer() {
        Integer value = 0;
        file_ >> value;
        return value;
    }
    std::vector<double> reals(std::size_t n) {
        std::vector<double> values(n);
        for (double &value : values) value = real();
        return values;
    }

private:
    std::ifstream file_;
};

struct golden_case {
    std::string name;
    mode::options options;
    double loss;
    bool weights;
    std::vector<double> score, mass, weight, grad;
};

mode::options read_options(words &in) {
    mode::options options;
    options.order(in.integer<std::int32_t>()).bins(in.integer<std::int32_t>());
    options.binning(static_cast<mode::binning>(in.integer<std::int32_t>()));
    options.moments(static_cast<mode::moment_kind>(in.integer<std::int32_t>()));
    options.slope_of(static_cast<mode::slope_of>(in.integer<std::int32_t>()));
    options.reduction(static_cast<mode::reduction>(in.integer<std::int32_t>()));
    options.monotonic(in.integer<int>() != 0).unbiased(in.integer<int>() != 0);
    options.max_slope(in.real()).slope_penalty(in.real());
    const std::vector<double> mass = in.reals(2), score = in.reals(2);
    options.mass_range(mass[0], mass[1]).score_range(score[0], score[1]);
    const std::vector<double> edges = in.reals(in.integer<std::size_t>());
    if (!edges.empty()) options.edges(edges);
    return options;
}

golden_case read_case(words &in) {
    golden_case c;
    c.name = in.line();
    c.options = read_options(in);
    const std::size_t n = in.integer<std::size_t>();
    c.weights = in.integer<int>() != 0;
    c.loss = in.real();
    c.score = in.reals(n);
    c.mass = in.reals(n);
    c.weight = in.reals(c.weights ? n : 0);
    c.grad = in.reals(n);
    return c;
}

template <class T>
void check_case(const golden_case &c, double tolerance) {
    const std::vector<T> score(c.score.begin(), c.score.end()), mass(c.mass.begin(), c.mass.end()),
        weight(c.weight.begin(), c.weight.end());
    const mode::view<const T> weights = c.weights ? mode::view<const T>(weight) : mode::view<const T>();

    const double loss = mode::loss(c.options, score, mass, weights);
    CHECK(std::fabs(loss - c.loss) <= tolerance * std::fabs(c.loss), "%s: loss %.17g, want %.17g", c.name.c_str(), loss, c.loss);

    const mode::result<T> both = mode::loss_and_grad(c.options, score, mass, weights);
    CHECK(both.loss == loss, "%s: %.17g with the gradient, %.17g without", c.name.c_str(), both.loss, loss);
    CHECK(both.grad.size() == c.grad.size(), "%s: %zu elements", c.name.c_str(), both.grad.size());
    double largest = 0, worst = 0;
    for (std::size_t i = 0; i < c.grad.size(); i++) {
        const double off = std::fabs(static_cast<double>(both.grad[i]) - c.grad[i]);
        largest = std::fmax(largest, std::fabs(c.grad[i]));
        if (!(off <= worst)) worst = off; // NaN too
    }
    CHECK(worst <= tolerance * largest, "%s: gradient off by %.3g of %.3g", c.name.c_str(), worst, largest);
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: test_golden FILE\n");
        return EXIT_FAILURE;
    }
    words in(argv[1]);
    const int cases = in.integer<int>();
    for (int k = 0; k < cases; k++) {
        const golden_case c = read_case(in);
        check_case<double>(c, double_tolerance);
        check_case<float>(c, float_tolerance);
    }
    return finish();
}
