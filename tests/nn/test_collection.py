"""ParameterList and ParameterDict."""

from collections import OrderedDict

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises


def mixed():
    return nn.ParameterList([nn.Parameter(torch.ones(2)), torch.ones(2, 3), 3])


def test_tensors_in_a_list_become_parameters_and_others_stay():
    m = mixed()
    assert [name for name, _ in m.named_parameters()] == ["0", "1"]
    assert m[2] == 3
    assert repr(m) == (
        "ParameterList(\n"
        "    (0): Parameter containing: [torch.float32 of size 2]\n"
        "    (1): Parameter containing: [torch.float32 of size 2x3]\n"
        "    (2): Object of type: int\n"
        ")"
    )
    assert repr(nn.ParameterList([torch.ones(2)])) == (
        "ParameterList(  (0): Parameter containing: [torch.float32 of size 2])"
    )


def test_a_parameter_list_is_changed_like_a_list():
    m = mixed().append(4).extend([1, 2])
    m += [5]
    m[0] = torch.zeros(3)
    assert len(m) == 7
    assert list(m)[2:] == [3, 4, 1, 2, 5]
    assert m[-1] == 5
    assert m[0].tolist() == [0.0, 0.0, 0.0]
    assert len(m[0:2]) == 2
    with raises(IndexError, "index 99 is out of range"):
        m[99]
    with raises(TypeError, "ParameterList.extend should be called with an iterable, but got int"):
        m.extend(3)
    message = "cannot assign 'str' as parameter '0' (torch.nn.Parameter or None expected)"
    with raises(TypeError, message):
        m[0] = "a"
    with raises(RuntimeError, "ParameterList should not be called."):
        m(1)


def test_a_plain_dict_comes_in_the_order_of_its_names():
    given = {"b": torch.ones(2), "a": torch.ones(1), "c": 5}
    m = nn.ParameterDict(given)
    assert list(m) == ["a", "b", "c"]
    assert list(nn.ParameterDict(OrderedDict(given))) == ["b", "a", "c"]
    assert list(nn.ParameterDict(list(given.items()))) == ["b", "a", "c"]
    assert repr(m) == (
        "ParameterDict(\n"
        "    (a): Parameter containing: [torch.FloatTensor of size 1]\n"
        "    (b): Parameter containing: [torch.FloatTensor of size 2]\n"
        "    (c): Object of type: int\n"
        ")"
    )


def test_a_parameter_dict_is_changed_like_a_dict():
    m = nn.ParameterDict({"a": torch.ones(1), "b": torch.ones(2), "c": 5})
    assert m.popitem() == ("c", 5)
    assert m.pop("a").tolist() == [1.0]
    assert m.get("q") is None
    assert m.setdefault("z", torch.zeros(1)).tolist() == [0.0]
    assert list(m | nn.ParameterDict({"l": 3})) == ["b", "z", "l"]
    assert list({"k": 1} | m) == ["k", "b", "z"]
    m |= nn.ParameterDict({"m": torch.ones(1)})
    assert list(reversed(m)) == ["m", "z", "b"]
    assert list(m.fromkeys(["u", "v"], 1).items()) == [("u", 1), ("v", 1)]
    assert "z" in m
    del m["z"]
    assert [p.shape for p in m.values()] == [(2,), (1,)]
    m.clear()
    assert len(m) == 0
    with raises(KeyError, "'popitem(): dictionary is empty'"):
        m.popitem()


def test_keys_of_a_parameter_dict_are_strings():
    message = (
        "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
        "'int'). Open an issue on github if you need non-string keys."
    )
    with raises(TypeError, message):
        nn.ParameterDict()[1] = torch.ones(1)
