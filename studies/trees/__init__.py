"""Boosted trees with MoDe on three samples, and other flat classifiers: ``python -m studies.trees.study``.

study     the command: which trainings there are, and at what size
simple    the simple model: rows and measures
jets      W tagging
plane     uniform signal efficiency in a Dalitz plane
boosters  trains XGBoost and LightGBM
peers     trains hep_ml's classifiers
report    tables and figure of docs/zoo.md
"""
