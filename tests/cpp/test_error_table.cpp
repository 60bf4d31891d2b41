// The table of errors, tests/helpers/error_cases.py, through mode.hpp: what is thrown, and the status of the other form.
// Usage: test_error_table FILE, where tests/c/write_error_cases.py has written error_cases.h, and with
// golden_to_text.py the events and options to FILE.
#include <cstring>
#include <string>

#include "../c/check.h"
#include "cases.hpp"
#include "error_cases.h" // struct error, from_python

namespace {

void expect(const error &want, int status, const std::string &sentence) {
    CHECK(status == want.status, "%s: status %d, want %d", want.input, status, want.status);
    CHECK(std::strstr(sentence.c_str(), want.words) && std::strstr(sentence.c_str(), want.more), "%s: \"%s\"", want.input,
          sentence.c_str());
}

// Both forms of a function that takes a status as its last argument.
template <class Throwing, class Reporting>
void expect_both(const error &want, Throwing throwing, Reporting reporting) {
    try {
        throwing();
        CHECK(false, "%s: nothing was thrown", want.input);
    } catch (const mode::error &thrown) {
        expect(want, thrown.code(), thrown.what());
    }
    mode::status status;
    reporting(status);
    expect(want, status.code(), status.message());
}

void check_case(const error &want, const golden_case &c) {
    const arguments<double> given(c);
    const mode::options options(c.options);
    const mode::events<double> events = given.events();
    std::vector<double> grad(c.n);
    expect_both(want, [&] { mode::loss(options, events, grad); },
                [&](mode::status &status) { mode::loss(options, events, grad, status); });
    if (want.status == MODE_ERROR_OVERFLOW) return; // a loss alone may be finite
    expect_both(want, [&] { mode::loss(options, events); },
                [&](mode::status &status) { mode::loss(options, events, {}, status); });
}

} // namespace

int main(int argc, char **argv) {
    std::FILE *file = argc == 2 ? std::fopen(argv[1], "r") : nullptr;
    if (!file) {
        std::fprintf(stderr, "usage: test_error_table FILE\n");
        return EXIT_FAILURE;
    }
    golden_case c;
    for (const error &want : from_python) {
        CHECK(read_case(file, &c), "%s: not in the file", want.input);
        check_case(want, c);
        free_case(&c);
    }
    std::fclose(file);
    return finish();
}
