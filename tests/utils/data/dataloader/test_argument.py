"""What a DataLoader refuses and warns of, in PyTorch's words."""

import pytest

from tapegrad.utils import data


class Endless(data.IterableDataset):
    def __iter__(self):
        return iter(int, 1)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"num_workers": -1}, "num_workers option should be non-negative; use num_workers=0 to"),
        ({"timeout": -1}, "timeout option should be non-negative$"),
        ({"prefetch_factor": 2}, "prefetch_factor option could only be specified in multiproc"),
        ({"num_workers": 1, "prefetch_factor": -1}, "prefetch_factor option should be non-neg"),
        ({"persistent_workers": True}, "persistent_workers option needs num_workers > 0$"),
        ({"shuffle": True, "sampler": [1]}, "sampler option is mutually exclusive with shuffle$"),
        ({"batch_sampler": [[1]], "batch_size": 3}, "batch_sampler option is mutually exclusive"),
        ({"batch_sampler": [[1]], "drop_last": True}, "batch_sampler option is mutually exclusive"),
        ({"batch_size": None, "drop_last": True}, "batch_size=None option disables auto-batching"),
        ({"batch_size": 0}, "batch_size should be a positive integer value, but got batch_size=0$"),
        ({"drop_last": 3}, "drop_last should be a boolean value, but got drop_last=3$"),
        (
            {"multiprocessing_context": "fork"},
            r"multiprocessing_context can only be used with multi-process loading "
            r"\(num_workers > 0\), but got num_workers=0$",
        ),
        (
            {"num_workers": 1, "multiprocessing_context": "foo"},
            "multiprocessing_context option should specify a valid start method in .*'spawn'.*, "
            "but got multiprocessing_context='foo'$",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message):
    with pytest.raises(ValueError, match=f"(?m)^{message}"):
        data.DataLoader("abc", **options)


def test_a_context_is_one_of_multiprocessing():
    message = "(?m)should be a valid context object .* but got multiprocessing_context=3$"
    with pytest.raises(TypeError, match=message):
        data.DataLoader("abc", num_workers=1, multiprocessing_context=3)


def test_an_empty_dataset_cannot_be_shuffled():
    with pytest.raises(ValueError, match="num_samples should be a positive integer value"):
        data.DataLoader([], shuffle=True)
    assert list(data.DataLoader([])) == []


@pytest.mark.parametrize(
    "name, value", [("shuffle", True), ("sampler", [1]), ("batch_sampler", [[1]])]
)
def test_an_iterable_dataset_has_an_order_of_its_own(name, value):
    with pytest.raises(ValueError, match=f"expected unspecified {name} option, but got {name}="):
        data.DataLoader(Endless(), **{name: value})
    data.DataLoader(Endless(), shuffle=False)
    with pytest.raises(TypeError, match=r"object of type 'Endless' has no len\(\)"):
        len(data.DataLoader(Endless()))


@pytest.mark.parametrize(
    "name", ["batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"]
)
def test_what_a_loader_was_made_of_is_fixed(name):
    loader = data.DataLoader("abc")
    message = f"(?m)^{name} attribute should not be set after DataLoader is initialized$"
    with pytest.raises(ValueError, match=message):
        setattr(loader, name, None)
    loader.num_workers = 0


def test_memory_is_not_pinned_and_a_warning_says_so():
    loader = data.DataLoader("ab", pin_memory=True)
    with pytest.warns(UserWarning, match="no accelerator is found, then device pinned memory"):
        assert list(loader) == [["a"], ["b"]]
    loader = data.DataLoader("ab", pin_memory=True, pin_memory_device="cuda")
    with pytest.warns(UserWarning) as warned:
        iter(loader)
    assert "ignore pin_memory_device='cuda'." in str(warned[0].message)
    assert warned[0].filename == __file__


def test_more_workers_than_cores_are_warned_of():
    with pytest.warns(UserWarning, match="^This DataLoader will create 10000 worker processes in"):
        data.DataLoader("ab", num_workers=10_000)


def test_workers_that_make_nothing_in_advance_are_refused():
    loader = data.DataLoader([1, 2], num_workers=1, prefetch_factor=0)
    with pytest.raises(AssertionError, match="prefetch_factor must be greater than 0"):
        iter(loader)
