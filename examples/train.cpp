// A logistic regression in C++ whose selection does not follow the mass:
//     c++ train.cpp $(libmode-config --cflags --libs) -o train && ./train
// The signal is a peak in mass, the background falls. The second of the two features gives the mass away: without
// MoDe it gets a weight. The chain rule takes libmode's gradient, which is by the scores, to the weights. Whether a
// search could use the scores of such a training, `libmode report` says (docs/report.md).
#include <cmath>
#include <cstdio>
#include <mode.hpp>
#include <random>
#include <vector>

int main() {
    const int events = 20000, steps = 500;
    std::vector<double> feature(events), mass_like(events), mass(events), score(events), by_score(events);
    std::vector<std::int32_t> label(events); // 1: signal, 0: background
    std::mt19937 random(1);
    // The distributions of <random> give other numbers with another standard library.
    auto uniform = [&] { return (random() + 0.5) / 4294967296.0; };
    auto normal = [&] {
        const double radius = std::sqrt(-2 * std::log(uniform()));
        return radius * std::cos(6.283185307179586 * uniform());
    };
    for (int i = 0; i < events; i++) {
        label[i] = i % 2;
        mass[i] = label[i] ? 120 + 10 * normal() : 50 - 60 * std::log(uniform());
        feature[i] = label[i] + normal();
        mass_like[i] = (mass[i] - 110) / 60 + normal() / 2;
    }

    try {
        const mode::handle m("order=0"); // the score of background shall not depend on mass at all
        for (double strength : {0.0, 10.0}) {
            double loss = 0, a = 0, b = 0, c = 0;
            for (int step = 0; step < steps; step++) {
                for (int i = 0; i < events; i++)
                    score[i] = 1 / (1 + std::exp(-(a * feature[i] + b * mass_like[i] + c)));
                loss = mode::loss(m, mode::events<double>(score, label, mass), by_score);
                double by_a = 0, by_b = 0, by_c = 0; // of cross entropy + strength * MoDe
                for (int i = 0; i < events; i++) {
                    const double s = score[i];
                    const double by_logit = (s - label[i]) / events + strength * by_score[i] * s * (1 - s);
                    by_a += by_logit * feature[i];
                    by_b += by_logit * mass_like[i];
                    by_c += by_logit;
                }
                a -= 0.3 * by_a, b -= 0.3 * by_b, c -= 0.3 * by_c;
            }
            std::printf("strength %2g: MoDe %.4f, weight %.2f, of the feature that gives the mass away %.2f\n",
                        strength, loss, a, b);
        }
    } catch (const mode::error &error) { // it names the argument, the value and the place
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
