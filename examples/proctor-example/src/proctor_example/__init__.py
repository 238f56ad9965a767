"""One plugin for every extension point of Proctor."""
