"""The parts of the inspection (`loader.intake.inspect`): levels of a profile, limits, repairs, sentences."""
