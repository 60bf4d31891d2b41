"""Trainings whose flatness other events tell: what does the layer say of them?"""
