"""The built-in benchmarks, as data: one YAML file each, called what the benchmark is called."""
