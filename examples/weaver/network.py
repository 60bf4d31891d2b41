"""What ``weaver --network-config`` reads: a small tagger of five classes, with MoDe by one line, the import."""

import torch
from libmode.weaver import get_evaluate_fn, get_loss, get_train_fn  # noqa: F401, weaver looks for them here


class Tagger(torch.nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(features, 64), torch.nn.SiLU(),
            torch.nn.Linear(64, 64), torch.nn.SiLU(),
            torch.nn.Linear(64, classes),
        )  # fmt: skip

    def forward(self, jet_features):
        return self.layers(jet_features)


def get_model(data_config, **options):
    features = len(data_config.input_dicts["jet_features"])
    info = {
        "input_names": list(data_config.input_names),
        "input_shapes": {"jet_features": (1, features)},
        "output_names": ["logits"],
        "dynamic_axes": {"jet_features": {0: "N"}, "logits": {0: "N"}},
    }
    return Tagger(features, len(data_config.label_value)), info
