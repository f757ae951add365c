"""Running a program on an adapter and keeping its trace, in this process or isolated in another."""
