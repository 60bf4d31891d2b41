"""The common code of the objectives, metrics and classifiers of XGBoost and LightGBM."""
