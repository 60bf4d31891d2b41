/*
 * Prints each kind of loss of 1,000 events whose scores follow the masses i/1000.
 * Usage: root -l -b -q losses.C
 */
R__ADD_INCLUDE_PATH($LIBMODE/include)
R__LOAD_LIBRARY($LIBMODE/lib/libmode.so)
#include <mode.h>

#include <vector>

int losses() {
    std::vector<double> score, mass, grad(1000);
    for (int i = 0; i < 1000; i++) {
        mass.push_back(i / 1000.);
        score.push_back((i * 7 % 1000 + i) / 2000.);
    }
    const char *names[] = {"MoDe", "DisCo", "flatness"};
    for (int kind : {MODE_LOSS_MODE, MODE_LOSS_DISCO, MODE_LOSS_FLATNESS}) {
        mode_options options;
        mode_options_init(&options, sizeof options);
        options.loss = kind;
        const void *masses[] = {mass.data()};
        mode_events events;
        mode_events_init(&events, sizeof events);
        events.n = 1000;
        events.score = score.data();
        events.mass = masses;
        events.n_mass = 1;
        mode_result result;
        if (mode_evaluate_f64(&options, &events, &result, grad.data(), nullptr)) {
            fprintf(stderr, "%s: %s\n", names[kind], mode_last_error());
            return 1;
        }
        printf("%s %.17g\n", names[kind], result.loss);
    }
    return 0;
}
