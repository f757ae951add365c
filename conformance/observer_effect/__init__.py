"""Programs whose result depends on how they are observed."""
