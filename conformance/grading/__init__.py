"""Grading an implementation: cases and campaigns of programs, added up to a status for each rule."""
