/*
 * Trains a small network on cross entropy + lambda MoDe: a training loop of one's
 * own, with libmode giving the loss's gradient by the scores.
 *
 *     root -l -b -q mode_train.C                    lambda 0, then 3000, at order 0: 10 seconds
 *     root -l -b -q 'mode_train.C(3000, 1)'         order 1
 *
 * The events are those of section 3.1 of arXiv:2010.09745. Prints, for each
 * lambda, the area under the ROC curve and, at signal efficiencies of 80, 50 and
 * 20 %, the rms of the background efficiency over 20 bins of mass, relative to
 * its mean. Writes scores.root with the tree "events" for mode_loss.C and
 * mode_scan.C: score, mass, weight and label, and score_bce, the score for
 * lambda 0. Whether a search could use them, the check says:
 *
 *     libmode report scores.root:events --score score --score score_bce --order 0
 *
 * Returns 0, or 1 after an error.
 */
R__ADD_INCLUDE_PATH($LIBMODE/include)
R__LOAD_LIBRARY($LIBMODE/lib/libmode.so) // not found? export LIBMODE=$(libmode-config --prefix)
#include <mode.hpp> // not found? export LIBMODE=$(libmode-config --prefix); compiled, ROOT_INCLUDE_PATH=$LIBMODE/include

#include <TError.h>
#include <TFile.h>
#include <TH1D.h>
#include <TMath.h>
#include <TRandom3.h>
#include <TTree.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#ifdef __CLING__
#pragma cling optimize(3) // the loops over events take three times as long without
#endif

struct TrainEvents {
    std::vector<float> x1, x2, mass;
    std::vector<int> label;
};

/* Signal has a peak in mass; background of two types, one like signal in x1, is flat; x2 gives the peak away. */
TrainEvents train_sample(size_t n, unsigned seed) {
    TRandom3 random(seed);
    TrainEvents events;
    for (size_t i = 0; i < n; i++) {
        bool signal = random.Rndm() < 0.5, first = random.Rndm() < 0.5;
        double u = random.Rndm(), mass;
        if (signal) mass = first ? random.Gaus(0.2, 0.1) : 2 * u - 1;
        else mass = first ? 1 - 2 * std::sqrt(u) : 2 * std::sqrt(u) - 1;
        events.x1.push_back(random.Gaus(signal ? 1 : first ? 0 : -4, 1));
        events.x2.push_back(std::exp(-0.5 * std::pow((mass - 0.2) / 0.1, 2)));
        events.mass.push_back(mass);
        events.label.push_back(signal);
    }
    return events;
}

/* score = sigmoid(b + sum_h v_h a_h), a_h = y / (1 + |y|), y = w1_h x1 + w2_h x2 + c_h. */
struct TrainNetwork {
    static const int hidden = 32;
    std::vector<float> w1, w2, c, v, b; // the parameters
    std::vector<float> a;               // hidden values of the last call, n rows

    explicit TrainNetwork(unsigned seed) : b(1) {
        TRandom3 random(seed);
        for (int h = 0; h < hidden; h++) {
            w1.push_back(random.Gaus());
            w2.push_back(random.Gaus());
            c.push_back(random.Uniform(-3, 3));
            v.push_back(random.Gaus(0, 1 / std::sqrt(hidden)));
        }
    }

    std::vector<float> scores(const float *x1, const float *x2, size_t n) {
        std::vector<float> score(n);
        a.resize(n * hidden);
        for (size_t i = 0; i < n; i++) {
            float z = b[0], *a_i = &a[i * hidden];
            for (int h = 0; h < hidden; h++) {
                float y = w1[h] * x1[i] + w2[h] * x2[i] + c[h];
                a_i[h] = y / (1 + std::fabs(y));
                z += v[h] * a_i[h];
            }
            score[i] = 1 / (1 + std::exp(-z));
        }
        return score;
    }

    /* Derivatives by w1, w2, c, v and b, one after the other, from those by z. */
    std::vector<float> backward(const float *x1, const float *x2, const std::vector<float> &dz) const {
        std::vector<float> d(4 * hidden + 1);
        for (size_t i = 0; i < dz.size(); i++) {
            const float *a_i = &a[i * hidden];
            for (int h = 0; h < hidden; h++) {
                float slope = 1 - std::fabs(a_i[h]), dy = dz[i] * v[h] * slope * slope;
                d[h] += dy * x1[i];
                d[hidden + h] += dy * x2[i];
                d[2 * hidden + h] += dy;
                d[3 * hidden + h] += dz[i] * a_i[h];
            }
            d[4 * hidden] += dz[i];
        }
        return d;
    }
};

/* Minimizes cross entropy + lambda MoDe with Adam. Returns false after an error of libmode. */
bool train_network(TrainNetwork &network, const TrainEvents &events, double lambda, int order) {
    const size_t batch = 2000, steps = 4000, batches = events.label.size() / batch;
    const double learning_rate = 0.01;
    mode::status status;
    const mode::handle m(Form("order=%d", order), status);
    std::vector<float> mode_grad(batch), dz(batch);
    std::vector<double> mean(4 * TrainNetwork::hidden + 1), square(mean);
    for (size_t step = 0; step < steps; step++) {
        size_t first = step % batches * batch;
        const float *x1 = &events.x1[first], *x2 = &events.x2[first];
        const int *label = &events.label[first];
        std::vector<float> score = network.scores(x1, x2, batch);
        mode::loss(m, mode::events<float>(score, {label, batch}, {&events.mass[first], batch}), mode_grad, status);
        if (!status.ok()) {
            Error("mode_train", "%s", status.message());
            return false;
        }
        // At full strength from the start, MoDe would squeeze the untrained scores together.
        double ramp = std::min(1., 2. * step / steps);
        for (size_t i = 0; i < batch; i++)
            dz[i] = (score[i] - label[i]) / batch + ramp * lambda * mode_grad[i] * score[i] * (1 - score[i]);

        std::vector<float> d = network.backward(x1, x2, dz);
        double rate = learning_rate * (1 + std::cos(TMath::Pi() * step / steps)) / 2;
        size_t k = 0;
        for (auto *parameters : {&network.w1, &network.w2, &network.c, &network.v, &network.b}) {
            for (float &parameter : *parameters) {
                mean[k] += 0.1 * (d[k] - mean[k]);
                square[k] += 0.001 * (double(d[k]) * d[k] - square[k]);
                parameter -= rate * mean[k] / (1 - std::pow(0.9, step + 1)) /
                             (std::sqrt(square[k] / (1 - std::pow(0.999, step + 1))) + 1e-8);
                k++;
            }
        }
    }
    return true;
}

/* Prints a line of the table. */
void train_report(double lambda, const std::vector<float> &score, const TrainEvents &events) {
    std::vector<size_t> order(score.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](size_t i, size_t j) { return score[i] > score[j]; });
    std::vector<float> signal; // scores, falling
    double area = 0;
    for (size_t i : order) {
        if (events.label[i]) signal.push_back(score[i]);
        else area += signal.size();
    }
    printf("%6g  %.4f", lambda, area / signal.size() / (score.size() - signal.size()));

    for (double efficiency : {0.8, 0.5, 0.2}) {
        float threshold = signal[size_t(efficiency * signal.size())];
        TH1D all("", "", 20, -1, 1), kept(all);
        for (size_t i = 0; i < score.size(); i++) {
            if (events.label[i]) continue;
            all.Fill(events.mass[i]);
            if (score[i] >= threshold) kept.Fill(events.mass[i]);
        }
        kept.Divide(&all);
        const double *rate = kept.GetArray() + 1; // behind the underflow
        printf("  %5.3f", TMath::RMS(20, rate) / TMath::Mean(20, rate));
    }
    printf("\n");
}

int mode_train(double lambda = 3000, int order = 0) {
    TrainEvents training = train_sample(100000, 1), test = train_sample(200000, 2);
    size_t n = test.label.size();
    std::vector<float> scores[2];
    printf("lambda  AUC     rms of the background efficiency / mean at 80, 50, 20 %%\n");
    for (int k : {0, 1}) {
        TrainNetwork network(3); // with other seeds, so small a network ends at an AUC of 0.68 to 0.81
        if (!train_network(network, training, k * lambda, order)) return 1;
        scores[k] = network.scores(test.x1.data(), test.x2.data(), n);
        train_report(k * lambda, scores[k], test);
    }

    TFile file("scores.root", "RECREATE");
    TTree tree("events", "test events of mode_train.C");
    float score, score_bce, mass, weight = 1;
    int label;
    tree.Branch("score", &score);
    tree.Branch("score_bce", &score_bce);
    tree.Branch("mass", &mass);
    tree.Branch("weight", &weight);
    tree.Branch("label", &label);
    for (size_t i = 0; i < n; i++) {
        score = scores[1][i];
        score_bce = scores[0][i];
        mass = test.mass[i];
        label = test.label[i];
        tree.Fill();
    }
    return file.Write() > 0 ? 0 : 1;
}
