/*
 * What a classifier does to the background's mass spectrum, and the MoDe loss for
 * several orders and numbers of bins: tables, mode_scan.png and mode_scan.pdf.
 *
 *     root -l -b -q 'mode_scan.C("events.root", "50,250")'      masses from 50 to 250 only
 *
 * The tree "events" has the branches score, mass and weight (float) and label
 * (int, 1 for signal, 0 for background). Returns 0, or 1 after an error.
 */
R__ADD_INCLUDE_PATH($LIBMODE/include)
R__LOAD_LIBRARY($LIBMODE/lib/libmode.so) // not found? export LIBMODE=$(libmode-config --prefix)
#include <mode.hpp> // not found? export LIBMODE=$(libmode-config --prefix); compiled, ROOT_INCLUDE_PATH=$LIBMODE/include

#include <ROOT/RDataFrame.hxx>
#include <TCanvas.h>
#include <TError.h>
#include <TGraph.h>
#include <TGraphErrors.h>
#include <TH1D.h>
#include <TLegend.h>
#include <TMath.h>
#include <TMultiGraph.h>
#include <TString.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

struct ScanEvents {
    std::vector<float> score, mass, weight;
    std::vector<int> label;
};

/* The score above which lies the given fraction of the signal's weight. */
float scan_threshold(const ScanEvents &events, double efficiency) {
    std::vector<size_t> signal;
    double total = 0, above = 0;
    for (size_t i = 0; i < events.label.size(); i++) {
        if (events.label[i] != 1) continue;
        signal.push_back(i);
        total += events.weight[i];
    }
    std::sort(signal.begin(), signal.end(), [&](size_t i, size_t j) { return events.score[i] > events.score[j]; });
    for (size_t i : signal) {
        above += events.weight[i];
        if (above >= efficiency * total) return events.score[i];
    }
    return -INFINITY; // negative weights came last
}

/* The weight fraction of the background above a score, in bins of mass. */
TGraphErrors *scan_efficiency(const ScanEvents &events, float threshold, const std::vector<double> &edges) {
    TH1D all("", "", edges.size() - 1, edges.data()), kept(all);
    all.Sumw2();
    kept.Sumw2();
    for (size_t i = 0; i < events.label.size(); i++) {
        if (events.label[i] != 0) continue; // masses outside the edges count as under- and overflow
        all.Fill(events.mass[i], events.weight[i]);
        if (events.score[i] >= threshold) kept.Fill(events.mass[i], events.weight[i]);
    }
    kept.Divide(&kept, &all, 1, 1, "B"); // binomial errors
    return new TGraphErrors(&kept);
}

void scan_draw(TVirtualPad *pad, TMultiGraph &graphs, TLegend &legend, const char *x, const char *y) {
    pad->cd();
    pad->SetMargin(0.14, 0.03, 0.13, 0.05);
    pad->SetTicks();
    graphs.Draw("A");
    graphs.GetXaxis()->SetTitle(x);
    graphs.GetYaxis()->SetTitle(y);
    for (TAxis *axis : {graphs.GetXaxis(), graphs.GetYaxis()}) {
        axis->SetTitleSize(0.05);
        axis->SetLabelSize(0.045);
        axis->CenterTitle();
    }
    legend.SetBorderSize(0);
    legend.SetFillStyle(0);
    legend.SetTextSize(0.045);
    legend.Draw();
}

int mode_scan(const char *file_name = "events.root", const char *mass_range = "none", const char *mass_title = "mass [GeV]",
              const char *score_branch = "score") {
    ScanEvents events;
    try {
        ROOT::RDataFrame frame("events", file_name);
        auto score = frame.Take<float>(score_branch), mass = frame.Take<float>("mass");
        auto weight = frame.Take<float>("weight");
        auto label = frame.Take<int>("label");
        events = {*score, *mass, *weight, *label};
    } catch (const std::exception &error) {
        Error("mode_scan", "%s", error.what());
        return 1;
    }
    if (std::count(events.label.begin(), events.label.end(), 1) == 0) {
        Error("mode_scan", "no event of label 1, signal, in %s", file_name);
        return 1;
    }

    const int colors[] = {kAzure + 2, kOrange + 7, kTeal + 3, kViolet - 6}, markers[] = {20, 21, 22, 23};

    /* The background's efficiency, in the bins of equal numbers of events that the loss takes too. */
    const mode::events<float> all(events.score, events.label, events.mass, events.weight);
    mode::status status;
    auto options = [&](int bins, int order) { return mode::handle(Form("bins=%d order=%d mass_range=%s", bins, order, mass_range), status); };
    std::vector<double> edges = mode::table_of(options(20, 0), all, {}, status).edges;
    if (!status.ok()) {
        Error("mode_scan", "%s", status.message());
        return 1;
    }
    edges.back() = std::nextafter(edges.back(), INFINITY); // a TH1 leaves its upper edge out
    TMultiGraph efficiencies;
    TLegend efficiency_legend(0.18, 0.81, 0.95, 0.93, "signal efficiency");
    efficiency_legend.SetNColumns(3);
    int k = 0;
    for (double efficiency : {0.8, 0.5, 0.2}) {
        float threshold = scan_threshold(events, efficiency);
        TGraphErrors *graph = scan_efficiency(events, threshold, edges);
        graph->SetMarkerStyle(markers[k]);
        graph->SetMarkerColor(colors[k]);
        graph->SetLineColor(colors[k++]);
        efficiencies.Add(graph, "PZ");
        efficiency_legend.AddEntry(graph, Form("%.0f %%", 100 * efficiency), "PE");
        printf("signal efficiency %.0f %%: score >= %.4f, background efficiency %.4f to %.4f over mass\n",
               100 * efficiency, threshold, TMath::MinElement(graph->GetN(), graph->GetY()),
               TMath::MaxElement(graph->GetN(), graph->GetY()));
    }

    /* The loss. */
    const std::vector<int> orders = {0, 1, 2, 3}, numbers_of_bins = {10, 20, 50, 100, 200};
    TMultiGraph losses;
    TLegend loss_legend(0.18, 0.81, 0.95, 0.93, "order");
    loss_legend.SetNColumns(4);
    double smallest = 0, largest = 0; // the loss of a finite sample may be below 0
    printf("order ");
    for (int bins : numbers_of_bins) printf("  %4d bins", bins);
    printf("\n");
    for (int order : orders) {
        auto *graph = new TGraph;
        printf("%5d ", order);
        for (int bins : numbers_of_bins) {
            const double loss = mode::loss(options(bins, order), all, {}, status);
            if (!status.ok()) {
                Error("mode_scan", "%s", status.message());
                return 1;
            }
            graph->AddPoint(bins, loss);
            smallest = std::min(smallest, loss);
            largest = std::max(largest, loss);
            printf("  %9.3g", loss);
        }
        printf("\n");
        graph->SetMarkerStyle(markers[order]);
        graph->SetMarkerColor(colors[order]);
        graph->SetLineColor(colors[order]);
        losses.Add(graph, "LP");
        loss_legend.AddEntry(graph, Form("%d", order), "LP");
    }

    TCanvas canvas("mode_scan", "", 1600, 700);
    canvas.Divide(2, 1);
    canvas.cd(1)->SetLogy();
    scan_draw(gPad, efficiencies, efficiency_legend, mass_title, "background efficiency");
    efficiencies.SetMaximum(2); // room for the legend
    canvas.cd(2)->SetLogx();
    scan_draw(gPad, losses, loss_legend, "mass bins", "MoDe loss");
    losses.GetXaxis()->SetMoreLogLabels();
    losses.GetXaxis()->SetNoExponent();
    losses.GetXaxis()->SetLimits(0.95 * numbers_of_bins.front(), 1.05 * numbers_of_bins.back());
    losses.GetYaxis()->SetMaxDigits(2);
    losses.SetMinimum(1.1 * smallest);
    losses.SetMaximum(1.3 * largest);
    canvas.SaveAs("mode_scan.png");
    canvas.SaveAs("mode_scan.pdf");
    return 0;
}
