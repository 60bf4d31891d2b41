/*
 * The MoDe loss of the events of a tree, and its gradient as a tree beside them.
 *
 *     root -l -b -q 'mode_loss.C("events.root")'      interpreted
 *     root -l -b -q 'mode_loss.C+("events.root")'     compiled
 *
 * The tree has the branches score, mass and weight (float) and label (int, 0 for
 * the background). Prints the loss and writes gradient.root, whose tree "gradient"
 * has d loss/d score of every event as the branch grad, 0 for signal:
 * events->AddFriend("gradient", "gradient.root") puts it beside the events.
 * Returns 0, or 1 after an error, which is also the exit status of root -q.
 */
R__ADD_INCLUDE_PATH($LIBMODE/include)
R__LOAD_LIBRARY($LIBMODE/lib/libmode.so) // not found? export LIBMODE=$(libmode-config --prefix)
#include <mode.hpp> // not found? export LIBMODE=$(libmode-config --prefix); compiled, ROOT_INCLUDE_PATH=$LIBMODE/include

#include <TError.h>
#include <TFile.h>
#include <TTree.h>
#include <TTreeReader.h>
#include <TTreeReaderValue.h>

#include <cstdio>
#include <memory>
#include <vector>

int mode_loss(const char *file_name = "events.root", const char *tree_name = "events", int order = 0) {
    std::unique_ptr<TFile> file(TFile::Open(file_name));
    if (!file) return 1; // TFile has said why

    TTreeReader events(tree_name, file.get());
    TTreeReaderValue<float> score_i(events, "score"), mass_i(events, "mass"), weight_i(events, "weight");
    TTreeReaderValue<int> label_i(events, "label");
    std::vector<float> score, mass, weight;
    std::vector<int> label;
    while (events.Next()) {
        score.push_back(*score_i);
        mass.push_back(*mass_i);
        weight.push_back(*weight_i);
        label.push_back(*label_i);
    }
    if (events.GetEntryStatus() != TTreeReader::kEntryBeyondEnd) {
        Error("mode_loss", "cannot read score/F, mass/F, weight/F and label/I of tree %s in %s", tree_name, file_name);
        return 1;
    }

    std::vector<float> grad(score.size());
    try {
        const mode::handle m(Form("order=%d", order));
        printf("loss %.17g\n", mode::loss(m, mode::events<float>(score, label, mass, weight), grad));
    } catch (const mode::error &error) {
        Error("mode_loss", "%s", error.what());
        return 1;
    }

    TFile out("gradient.root", "RECREATE");
    TTree gradient("gradient", "d loss/d score of every event");
    float grad_i;
    gradient.Branch("grad", &grad_i);
    for (float value : grad) {
        grad_i = value;
        gradient.Fill();
    }
    return out.Write() > 0 ? 0 : 1;
}
