"""The parts of the inspection (`loader.inspect`): one for each level of a profile, its limits, its sentences."""
