// cases.hpp - a golden case as the arguments of mode.hpp, in double or float.
#ifndef CASES_HPP
#define CASES_HPP

#include "../c/golden.h"
#include "mode.hpp"

template <class T>
struct arguments {
    explicit arguments(const golden_case &c)
        : score(vector(c.score, c.n)), weight(vector(c.weight, c.n)),
          weights(c.weight ? mode::view<const T>(weight) : mode::view<const T>()),
          label(c.label ? mode::labels(c.label, c.n) : mode::labels()),
          category(c.category ? mode::labels(c.category, c.n) : mode::labels()) {
        for (std::size_t k = 0; k < c.n_mass; k++) mass.push_back(vector(c.mass[k], c.n));
    }
    arguments(const arguments &) = delete; // the views are of these vectors
    arguments &operator=(const arguments &) = delete;

    mode::events<T> events() const {
        mode::events<T> made(score, std::vector<mode::view<const T>>(mass.begin(), mass.end()));
        made.weight(weights).label(label).category(category);
        return made;
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

#endif
