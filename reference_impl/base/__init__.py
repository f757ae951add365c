"""Values that know no tensor: modes, dtypes, sizes, devices, and the marks that tie code to rules."""
