"""Sequential, ModuleList, ModuleDict. Messages are PyTorch's."""

from collections import OrderedDict

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises


def three():
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))


def kinds(container):
    return [type(m).__name__ for m in container]


def test_sequential_calls_one_after_another():
    m = three()
    x = torch.ones(4, 2)
    assert torch.equal(m(x), m[2](m[1](m[0](x))))
    assert nn.Sequential()(3) == 3


def test_sequential_is_indexed_like_a_list():
    m = three()
    assert m[-1] is m[2]
    assert m[torch.tensor(1)] is m[1]
    assert list(m[::2]._modules) == ["0", "2"]
    assert len(m) == 3
    with raises(IndexError, "index 3 is out of range"):
        m[3]
    with raises(IndexError, "index -4 is out of range"):
        m[-4]
    with raises(TypeError, "'str' object cannot be interpreted as an integer"):
        m["0"]


def test_sequential_is_changed_like_a_list():
    m = three()
    m.append(nn.ReLU()).insert(1, nn.Tanh()).extend([nn.Sigmoid()])
    assert kinds(m) == ["Linear", "Tanh", "ReLU", "Linear", "ReLU", "Sigmoid"]
    assert kinds([m.pop(1), m.pop(-1)]) == ["Tanh", "Sigmoid"]
    del m[0]
    m[0] = nn.Tanh()
    assert kinds(m) == ["Tanh", "Linear", "ReLU"]
    assert list(m._modules) == ["0", "1", "2"]
    del m[0:2]
    assert list(m._modules) == ["0"]
    with raises(TypeError, "int is not a Module subclass"):
        m.append(3)
    with raises(IndexError, "Index out of range: 99"):
        m.insert(99, nn.ReLU())
    with pytest.raises(AssertionError, match=r"^module should be of type: "):
        m.insert(0, 3)
    with raises(
        TypeError, "cannot assign 'int' as child module '0' (torch.nn.Module or None expected)"
    ):
        m[0] = 3


def test_sequential_takes_names_from_an_ordered_dict():
    m = nn.Sequential(OrderedDict(a=nn.Linear(2, 2), b=nn.ReLU()))
    assert m.a is m[0]
    assert list(m.append(nn.Tanh())._modules) == ["a", "b", "2"]
    with raises(TypeError, "dict is not a Module subclass"):
        nn.Sequential({"a": nn.ReLU()})


def test_sequentials_are_added_and_multiplied():
    m = nn.Sequential(nn.ReLU())
    assert kinds(m + nn.Sequential(nn.Tanh())) == ["ReLU", "Tanh"]
    assert kinds(2 * (m * 2)) == ["ReLU"] * 4
    assert kinds(m) == ["ReLU"]
    with raises(
        ValueError,
        "add operator supports only objects of Sequential class, but <class 'int'> is given.",
    ):
        m + 3
    with pytest.raises(ValueError, match=r"^Non-positive multiplication factor 0 for <class "):
        m * 0
    with pytest.raises(TypeError, match=r"^unsupported operand type\(s\) for \*: <class "):
        m * 1.5
    m += nn.Sequential(nn.Tanh())
    m *= 2
    assert kinds(m) == ["ReLU", "Tanh", "ReLU", "Tanh"]


def test_a_module_list_is_a_list_of_parts():
    m = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
    assert len(list(m.parameters())) == 6
    m.append(nn.ReLU())
    m.extend([nn.Tanh()])
    m.insert(0, nn.Sigmoid())
    m += [nn.ReLU()]
    assert kinds(m) == ["Sigmoid", "Linear", "Linear", "Linear", "ReLU", "Tanh", "ReLU"]
    assert kinds(m[1:3]) == ["Linear", "Linear"]
    assert kinds(m + [nn.Tanh()])[-1] == "Tanh"  # noqa: RUF005
    assert type(m.pop(0)) is nn.Sigmoid
    del m[0:3]
    m[0] = nn.Sigmoid()
    assert kinds(m) == ["Sigmoid", "Tanh", "ReLU"]
    with raises(IndexError, "index 4 is out of range"):
        m[4]
    with raises(TypeError, "ModuleList.extend should be called with an iterable, but got int"):
        m.extend(3)
    with raises(
        NotImplementedError, 'Module [ModuleList] is missing the required "forward" function'
    ):
        m(1)


def test_a_module_list_prints_equal_neighbours_once():
    assert repr(nn.ModuleList()) == "ModuleList()"
    m = nn.ModuleList([nn.Sequential(nn.Linear(2, 2), nn.ReLU()) for _ in range(4)] + [nn.ReLU()])
    assert repr(m) == (
        "ModuleList(\n"
        "  (0-3): 4 x Sequential(\n"
        "    (0): Linear(in_features=2, out_features=2, bias=True)\n"
        "    (1): ReLU()\n"
        "  )\n"
        "  (4): ReLU()\n"
        ")"
    )


def test_a_module_dict_is_a_dict_of_parts():
    m = nn.ModuleDict({"b": nn.Linear(2, 2), "a": nn.ReLU()})
    assert list(m) == list(m.keys()) == ["b", "a"]
    assert "a" in m
    assert kinds(m.values()) == ["Linear", "ReLU"]
    assert type(m.pop("a")) is nn.ReLU
    m.update([("c", nn.Tanh())])
    m["d"] = nn.ReLU()
    assert [name for name, _ in m.items()] == ["b", "c", "d"]
    del m["b"]
    assert len(m) == 2
    m.clear()
    assert len(m) == 0


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            3,
            TypeError,
            "ModuleDict.update should be called with an iterable of key/value pairs, but got int",
        ),
        ([3], TypeError, "ModuleDict update sequence element #0 should be Iterable; isint"),
        (
            [(1, 2, 3)],
            ValueError,
            "ModuleDict update sequence element #0 has length 3; 2 is required",
        ),
        ([("q", 3)], TypeError, "int is not a Module subclass"),
        ({"keys": nn.ReLU()}, KeyError, "\"attribute 'keys' already exists\""),
        ({"k.l": nn.ReLU()}, KeyError, "'module name can\\'t contain \".\", got: k.l'"),
    ],
)
def test_what_a_module_dict_is_given_is_checked(given, error, message):
    with raises(error, message):
        nn.ModuleDict(given)


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


def test_names_by_position():
    """As subclasses of ModuleList that have an indexing of their own ask for them."""
    layers = nn.ModuleList([nn.ReLU(), nn.Tanh()])
    assert layers._get_abs_string_index(0) == "0"
    assert layers._get_abs_string_index(-1) == "1"
    with pytest.raises(IndexError, match="index 2 is out of range"):
        layers._get_abs_string_index(2)
    assert nn.ParameterList([torch.ones(1)])._get_abs_string_index(-1) == "0"
