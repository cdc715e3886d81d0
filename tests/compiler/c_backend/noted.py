"""Which instructions one rule of the C backend has lowered."""

from tapegrad.compiler.c_backend import lowered


def noted(monkeypatch, folder, rule):
    """The texts of what `rule` lowers from now on, in programs that no cache has."""
    found = []

    def lower(lowering, instruction):
        done = rule(lowering, instruction)
        if done:
            found.append(instruction.text)
        return done

    monkeypatch.setenv("TAPEGRAD_CACHE_DIR", str(folder))
    monkeypatch.setattr(lowered, "RULES", [lower if x is rule else x for x in lowered.RULES])
    return found
