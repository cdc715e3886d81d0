"""Data pipes: samples, order, errors and warnings are PyTorch's."""

import pickle
import random
import warnings
from importlib import import_module

import pytest

import tapegrad
from tapegrad.utils.data import (
    DataLoader,
    IterDataPipe,
    MapDataPipe,
    functional_datapipe,
    guaranteed_datapipes_determinism,
    non_deterministic,
)
from tapegrad.utils.data.datapipes.iter import FileLister, FileOpener, IterableWrapper
from tapegrad.utils.data.datapipes.map import SequenceWrapper
from tests.needs import pytorch


class Served:
    """What a case is made of, of one library."""

    def __init__(self, torch):
        for name in ("iter", "map"):
            setattr(self, name, import_module(f"{torch.__name__}.utils.data.datapipes.{name}"))
        for name in ("graph", "graph_settings"):
            setattr(self, name, import_module(f"{torch.__name__}.utils.data.{name}"))
        self.torch, self.loader = torch, torch.utils.data.DataLoader

    def of(self, source):
        return self.iter.IterableWrapper(source)

    def ids(self, source):
        return self.map.SequenceWrapper(source)


def square(x):
    return x * x


def is_even(x):
    return x % 2 == 0


def third(x):
    return x % 3


def none_of_two(x):
    return None if x == 2 else x % 2


def twice(pipe):
    return [list(pipe), list(pipe)]


def batches(served, pipe, **options):
    return [each.tolist() for each in served.loader(pipe, batch_size=3, **options)]


def second_iterator(s):
    pipe = s.of(range(3)).map(square)
    first = iter(pipe)
    next(first)
    next(iter(pipe))
    next(first)


def second_pass_of_a_child(s):
    a, b = s.of(range(4)).fork(2)
    first, other = iter(a), iter(b)
    next(first), next(other)
    next(iter(a))
    next(other)


def shard(s):
    pipe = s.of(range(10)).sharding_filter()
    before = list(pipe)
    s.graph_settings.apply_sharding(pipe, 3, 1)
    return before, list(pipe), len(pipe)


def shard_twice(s):
    s.graph_settings.apply_sharding(s.of(range(10)).sharding_filter().sharding_filter(), 3, 1)


def seeded(s):
    pipe = s.of(range(8)).shuffle().map(square)
    s.graph_settings.apply_shuffle_settings(pipe, shuffle=False)
    before = list(pipe)
    s.graph_settings.apply_shuffle_settings(pipe, shuffle=True)
    s.graph_settings.apply_random_seed(pipe, s.torch.Generator().manual_seed(4))
    return before, list(pipe)


def graph(s):
    zipped = s.of(range(3)).map(square).zip(s.of([1]).shuffle())
    found = s.graph.traverse_dps(zipped)

    def names(part):
        return {str(pipe): names(inner) for pipe, inner in part.values()}

    return names(found), [str(each) for each in s.graph_settings.get_all_graph_pipes(found)]


def unknown(s):
    return s.of([1]).nonsense


CASES = {
    "wrap": lambda s: (list(s.of(range(5))), len(s.of(range(5))), repr(s.of([1]))),
    "wrap a generator": lambda s: list(s.of(x for x in range(3))),
    "map": lambda s: list(s.of(range(5)).map(square)),
    "map a column": lambda s: list(s.of([(1, 2), (3, 4)]).map(square, input_col=0)),
    "map columns": lambda s: list(s.of([(1, 2), (3, 4)]).map(max, input_col=[1, 0])),
    "map to a column": lambda s: list(s.of([(1, 2)]).map(square, input_col=1, output_col=-1)),
    "map a key": lambda s: list(s.of([{"a": 3}]).map(square, input_col="a", output_col="b")),
    "map to nowhere": lambda s: s.of([(1, 2)]).map(square, output_col=1),
    "map to two": lambda s: s.of([(1, 2)]).map(max, input_col=[0, 1], output_col=[0, 1]),
    "map too many": lambda s: s.of([(1, 2)]).map(square, input_col=[0, 1]),
    "map too few": lambda s: s.of([(1, 2)]).map(lambda a, b: a),
    "map by a lambda": lambda s: list(s.of(range(3)).map(lambda x: x + 1)),
    "map what is none": lambda s: s.of(range(3)).map(3),
    "filter": lambda s: list(s.of(range(6)).filter(is_even)),
    "filter by a column": lambda s: list(s.of([(1, 2), (2, 3)]).filter(is_even, input_col=1)),
    "filter by no condition": lambda s: list(s.of(range(6)).filter(square)),
    "an error below": lambda s: list(s.of(["a"]).map(square).batch(2)),
    "batch": lambda s: (list(s.of(range(7)).batch(3)), len(s.of(range(7)).batch(3))),
    "batch of full ones": lambda s: list(s.of(range(7)).batch(3, drop_last=True)),
    "batch of batches": lambda s: repr(list(s.of(range(7)).batch(2).batch(2))),
    "batch of none": lambda s: s.of(range(3)).batch(0),
    "unbatch": lambda s: list(s.of([[1, 2], [3]]).unbatch()),
    "unbatch twice": lambda s: list(s.of([[[1], [2]], [[3]]]).unbatch(2)),
    "unbatch all": lambda s: list(s.of([[[1], [2]], [3]]).unbatch(-1)),
    "unbatch too far": lambda s: list(s.of([1, 2]).unbatch()),
    "unbatch back": lambda s: list(s.of([1, 2]).unbatch(-2)),
    "group": lambda s: list(s.of(range(10)).groupby(third, keep_key=True)),
    "group of two": lambda s: list(s.of(range(10)).groupby(third, buffer_size=4, group_size=2)),
    "group that fails": lambda s: list(s.of(range(10)).groupby(third, buffer_size=5, group_size=3)),
    "group that drops": lambda s: list(
        s.of(range(10)).groupby(third, buffer_size=5, group_size=3, drop_remaining=True)
    ),
    "group guaranteed": lambda s: list(
        s.of(range(10)).groupby(third, buffer_size=5, group_size=3, guaranteed_group_size=2)
    ),
    "group wrongly": lambda s: s.of(range(10)).groupby(third, guaranteed_group_size=3),
    "concat": lambda s: (list(s.of([1]).concat(s.of([2, 3]))), len(s.of([1]).concat(s.of([2])))),
    "concat of nothing": lambda s: s.iter.Concater(),
    "concat of a list": lambda s: s.iter.Concater([1]),
    "zip": lambda s: (list(s.of([1, 2]).zip(s.of([3, 4, 5]))), len(s.of([1]).zip(s.of([2])))),
    "zip of a number": lambda s: s.iter.Zipper(3),
    "mux": lambda s: list(s.of([1, 2]).mux(s.of([3, 4, 5]), s.of([7, 8]))),
    "fork": lambda s: [twice(each) for each in s.of(range(4)).fork(2)],
    "fork of one": lambda s: list(s.of(range(3)).fork(1)),
    "fork of none": lambda s: s.of(range(3)).fork(0),
    "fork too far": lambda s: list(s.of(range(10)).fork(2, buffer_size=3)[0]),
    "fork without end": lambda s: [list(x) for x in s.of(range(3)).fork(2, buffer_size=-1)],
    "fork of copies": lambda s: [list(x) for x in s.of([[1]]).fork(2, copy="deep")],
    "fork of what": lambda s: s.of([[1]]).fork(2, copy="what"),
    "fork again": second_pass_of_a_child,
    "demux": lambda s: [list(x) for x in s.of(range(7)).demux(3, third)],
    "demux without": lambda s: [
        list(x) for x in s.of(range(4)).demux(2, none_of_two, drop_none=True)
    ],
    "demux of none": lambda s: [list(x) for x in s.of(range(4)).demux(2, none_of_two)],
    "demux beyond": lambda s: [list(x) for x in s.of(range(4)).demux(2, third)],
    "demux too far": lambda s: list(s.of(range(10)).demux(2, is_even, buffer_size=2)[0]),
    "shuffle": lambda s: twice(s.of(range(10)).shuffle()),
    "shuffle a little": lambda s: list(s.of(range(10)).shuffle(buffer_size=3)),
    "shuffle of a seed": lambda s: list(s.of(range(10)).shuffle().set_seed(7)),
    "shuffle not": lambda s: list(s.of(range(10)).shuffle().set_shuffle(False)),
    "shuffle batches": lambda s: list(s.of([[1, 2], [3]]).shuffle(unbatch_level=1)),
    "collate": lambda s: [x.tolist() for x in s.of([1, 2, 3, 4]).batch(2).collate()],
    "sampler": lambda s: list(s.iter.Sampler(s.of(range(4)), s.torch.utils.data.RandomSampler)),
    "shard": shard,
    "shard twice": shard_twice,
    "a second iterator": second_iterator,
    "a step that is none": unknown,
    "seeds": seeded,
    "graph": graph,
    "a shuffle added": lambda s: repr(
        s.graph_settings.apply_shuffle_settings(s.of([1]), shuffle=True)
    ),
    "ids": lambda s: (list(s.ids([1, 2])), s.ids({"a": 5})["a"], len(s.ids([1])), repr(s.ids([]))),
    "ids in batches": lambda s: (list(s.ids(range(5)).batch(2)), s.ids(range(5)).batch(2, True)[1]),
    "ids beyond a batch": lambda s: s.ids(range(5)).batch(2)[3],
    "ids after ids": lambda s: (list(s.ids([1]).concat(s.ids([2]))), len(s.ids([1]).map(square))),
    "ids beyond ids": lambda s: s.ids([1]).concat(s.ids([2]))[2],
    "ids beside ids": lambda s: list(s.ids([1, 2]).zip(s.ids([3, 4, 5]))),
    "ids beyond those beside": lambda s: s.ids([1]).zip(s.ids([2]))[1],
    "ids shuffled": lambda s: twice(s.ids(range(6)).shuffle()),
    "ids shuffled by a seed": lambda s: list(s.ids(range(6)).shuffle().set_seed(3)),
    "loader": lambda s: batches(s, s.of(range(7))),
    "loader of a shuffle": lambda s: batches(s, s.of(range(7)).shuffle()),
    "loader that shuffles": lambda s: batches(s, s.of(range(7)).shuffle(), shuffle=True),
    "loader that does not": lambda s: batches(s, s.of(range(7)).shuffle(), shuffle=False),
    "loader of ids": lambda s: batches(s, s.ids(range(7)), shuffle=True),
    "loader of a generator": lambda s: batches(
        s, s.of(range(7)).shuffle(), generator=s.torch.Generator().manual_seed(3)
    ),
}


def outcome(torch, case):
    """What a case gives, or its error; its warnings; the next random number."""
    torch.manual_seed(0)
    random.seed(0)
    served = Served(torch)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = case(served)
        except Exception as error:
            text = [str(each).partition("\nGive")[0] for each in error.args]
            found = type(error).__name__, text
    said = [str(each.message).splitlines()[0] for each in caught]
    return found, said, torch.rand(1).item()


@pytest.mark.parametrize("name", CASES)
def test_pipes_do_what_pytorchs_do(name):
    assert outcome(tapegrad, CASES[name]) == outcome(pytorch(), CASES[name])


def test_workers_share_the_samples():
    found = {}
    for torch in (tapegrad, pytorch()):
        torch.manual_seed(0)
        served = Served(torch)
        pipe = served.of(range(8)).shuffle().sharding_filter()
        found[torch] = batches(served, pipe, shuffle=True, num_workers=2), torch.rand(1).item()
    assert len({repr(each) for each in found.values()}) == 1


def test_workers_that_stay_begin_other_passes():
    tapegrad.manual_seed(0)
    pipe = IterableWrapper(range(20)).shuffle().sharding_filter()
    loader = DataLoader(pipe, batch_size=None, num_workers=1, persistent_workers=True)
    first, second = list(loader), list(loader)
    loader._iterator._shutdown_workers()
    assert sorted(first) == sorted(second) == list(range(20)) and first != second


def test_a_class_becomes_a_method():
    @functional_datapipe("tripled")
    class Tripled(IterDataPipe):
        def __init__(self, source):
            self.source = source

        def __iter__(self):
            return (3 * x for x in self.source)

    try:
        assert list(IterableWrapper([1, 2]).tripled()) == [3, 6]
        assert "tripled" in dir(IterableWrapper([1]))
        with pytest.raises(Exception, match="Unable to add DataPipe function name tripled"):
            functional_datapipe("tripled")(Tripled)
        with pytest.raises(AttributeError):
            SequenceWrapper([1]).tripled()
    finally:
        del IterDataPipe.functions["tripled"]


def test_an_iterator_may_be_the_pipe_itself():
    class Counting(IterDataPipe):
        def __iter__(self):
            self.i = 0
            return self

        def __next__(self):
            self.i += 1
            if self.i > 3:
                raise StopIteration
            return self.i

    assert twice(Counting()) == [[1, 2, 3]] * 2


def test_pipes_are_pickled():
    pipe = pickle.loads(pickle.dumps(IterableWrapper(range(3)).map(square).shuffle().batch(2)))
    assert sorted(pipe.unbatch()) == [0, 1, 4]
    assert list(pickle.loads(pickle.dumps(SequenceWrapper([1, 2])))) == [1, 2]


def test_files_are_listed_opened_and_decoded(tmp_path):
    (tmp_path / "inner").mkdir()
    for name in ("b.json", "a.txt", "inner/c.txt"):
        (tmp_path / name).write_text('{"n": 1}')

    def names(pipe):
        return [path.removeprefix(f"{tmp_path}/") for path in pipe]

    root = str(tmp_path)
    assert names(FileLister(root)) == ["a.txt", "b.json"]
    assert names(FileLister(root, recursive=True)) == ["a.txt", "b.json", "inner/c.txt"]
    assert names(IterableWrapper([root]).list_files(masks="*.txt")) == ["a.txt"]
    read = dict(FileLister(root).open_files(mode="b").read_from_stream())
    assert read[f"{root}/a.txt"] == b'{"n": 1}'
    parts = FileLister(root, "*.txt").open_files(mode="b").read_from_stream(chunk=3)
    assert [part for _, part in parts] == [b'{"n', b'": ', b"1}"]
    decoded = dict(FileOpener(FileLister(root), mode="b").routed_decode())
    assert list(decoded.values()) == ['{"n": 1}', {"n": 1}]
    with pytest.raises(ValueError, match="Invalid mode z"):
        FileOpener([root], mode="z")


def test_pipes_in_any_order_are_refused_where_order_is_promised():
    @non_deterministic
    class Any(IterDataPipe):
        def __iter__(self):
            yield 1

    assert list(Any()) == [1]
    with guaranteed_datapipes_determinism():
        with pytest.raises(TypeError, match="Any is non-deterministic, but you set"):
            Any()
    with pytest.raises(TypeError, match="Only `IterDataPipe` can be decorated"):
        non_deterministic(MapDataPipe)


def test_nothing_of_pipes_is_loaded_before_its_use():
    from tests.command import run_code

    code = "import tapegrad.utils.data, sys; print([n for n in sys.modules if 'datapipes' in n])"
    assert run_code(code) == "[]\n"


@pytest.mark.parametrize(
    ("path", "name"),
    [("iter.filelister", "FileListerIterDataPipe"), ("map.callable", "MapperMapDataPipe")],
)
def test_steps_have_the_paths_of_pytorch(path, name):
    module = import_module(f"tapegrad.utils.data.datapipes.{path}")
    assert name in module.__all__ and isinstance(getattr(module, name), type)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = module.nothing
