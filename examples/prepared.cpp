// One sort, two losses: c++ prepared.cpp $(libmode-config --cflags --libs) -o prepared && ./prepared
#include <cstdio>
#include <mode.hpp>

int main() {
    const int n = 100000;
    std::vector<double> score(n), mass(n); // background whose score grows linearly with the mass
    for (int i = 0; i < n; i++) mass[i] = i, score[i] = (i * 7919LL % n + i) / (2.0 * n);
    mode::options options;
    const mode::prepared<double> prepared(options, mode::events<double>(score, {}, mass)); // bins and sorts
    for (int order : {0, 1}) std::printf("order %d: loss %.6e\n", order, prepared.loss(options.order(order)));
}
