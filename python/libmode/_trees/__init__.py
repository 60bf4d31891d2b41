"""What the objectives, metrics and classifiers of XGBoost and LightGBM share."""
