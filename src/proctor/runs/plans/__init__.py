"""Before a run: a plan drafted from words, benchmarks recommended, what it will cost, how many samples it needs."""
