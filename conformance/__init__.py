"""How we look: programs drawn, run, observed, compared, reduced and reported.

The one public call is `conformance.check.check`; nothing is imported here, so that a part costs only itself.
"""
