"""Problems, as different as those of users, that judge the default of MoDeConstraint."""
