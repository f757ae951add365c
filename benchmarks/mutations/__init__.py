"""Mutations of the reference's source: which of them cases notice, and which programs do.

``changes`` says what is changed in a file, ``sample`` draws mutations from all of them, ``witnesses`` are the
cases and programs that are tried, ``trial`` tries one mutation in a process of its own, and ``record`` keeps
what came of it, and why some survive.
"""
