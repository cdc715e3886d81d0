"""Whether a profile is recorded, and its end before its end."""

import tapegrad


def test_a_profile_can_be_ended_early():
    assert not tapegrad.autograd._profiler_enabled()
    with tapegrad.profiler.profile() as prof:
        assert tapegrad.autograd._profiler_enabled()
        _ = tapegrad.ones(2) + 1
        tapegrad.autograd._disable_profiler()
        assert not tapegrad.autograd._profiler_enabled()
        tapegrad.ones(2).exp()
    names = [event.name for event in prof.events()]
    assert "aten::add" in names and "aten::exp" not in names


def test_the_plan_without_a_schedule_has_pytorchs_name():
    from tapegrad.profiler.profiler import _default_schedule_fn

    assert _default_schedule_fn(3).name == "RECORD"
