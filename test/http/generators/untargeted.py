"""Hooks of schemathesis: cases are made at random.

Schemathesis tells its generator which cases were accepted, and from the middle of the cases of an operation on the generator
climbs from those to others like them. That takes more than half of the processor time of a run, above all where a parameter
is a list of hashes, and leaves fewer cases that are new.
"""

import hypothesis

hypothesis.target = lambda *_observation, **_label: None
