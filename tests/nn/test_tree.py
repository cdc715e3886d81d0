"""Members of a module and of those below it, as any function gives them."""

import tapegrad as torch


def test_members_are_named_once():
    inner = torch.nn.Linear(1, 1)
    net = torch.nn.Sequential(inner, torch.nn.Tanh(), inner)
    net.note = net[0].note = "seen"
    found = net._named_members(lambda module: vars(module).items(), "net", True)
    names = [name for name, member in found if isinstance(member, str)]
    assert names == ["net.note"]
    found = net._named_members(lambda m: m._parameters.items(), remove_duplicate=False)
    assert [name for name, _ in found] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    found = net._named_members(lambda m: m._parameters.items(), recurse=False)
    assert list(found) == []
