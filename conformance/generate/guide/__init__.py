"""Which step comes next, by the features that a program may use."""
