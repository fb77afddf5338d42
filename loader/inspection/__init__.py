"""The parts of the inspection (`loader.inspect`): levels of a profile, limits, repairs, sentences."""
