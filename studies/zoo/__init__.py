"""Ten different problems that judge the default of MoDeConstraint."""
