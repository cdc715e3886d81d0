"""Forward mode: tangents that go along with what is computed."""
