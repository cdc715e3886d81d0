"""Summaries of hyperparameters and of the metrics they led to."""

from __future__ import annotations

from typing import Any

from google.protobuf.struct_pb2 import ListValue, Value
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.hparams.api_pb2 import (
    DataType,
    Experiment,
    HParamInfo,
    MetricInfo,
    MetricName,
    Status,
)
from tensorboard.plugins.hparams.plugin_data_pb2 import (
    HParamsPluginData,
    SessionEndInfo,
    SessionStartInfo,
)

from tapegrad.core.errors import value_error
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils.tensorboard.scalar import plugin


def hparams(
    hparam_dict: dict[str, Any],
    metric_dict: dict[str, Any],
    hparam_domain_discrete: dict[str, list] | None = None,
) -> tuple[Any, Any, Any]:
    """Three summaries: the experiment, the start of a session in it, and the session's end.

    Args:
        hparam_dict: numbers, texts, booleans or tensors of one element; None is left out.
        metric_dict: of which the names are used.
        hparam_domain_discrete: the values that a hyperparameter may have.

    >>> from tapegrad.utils.tensorboard.summary import hparams
    >>> [summary.value[0].tag for summary in hparams({"lr": 0.1}, {"loss": 0.5})]
    ['_hparams_/experiment', '_hparams_/session_start_info', '_hparams_/session_end_info']
    """
    domains = {} if hparam_domain_discrete is None else hparam_domain_discrete
    _check(hparam_dict, metric_dict, domains)
    infos, values = [], {}
    for name, given in hparam_dict.items():
        if given is None:
            continue
        kind, values[name] = _value(given)
        allowed = None
        if name in domains:
            allowed = ListValue(values=[_value(each)[1] for each in domains[name]])
        infos.append(HParamInfo(name=name, type=kind, domain_discrete=allowed))
    metrics = [MetricInfo(name=MetricName(tag=name)) for name in metric_dict]
    start = SessionStartInfo()
    for name, value in values.items():
        start.hparams[name].CopyFrom(value)
    return (
        _summary("experiment", experiment=Experiment(hparam_infos=infos, metric_infos=metrics)),
        _summary("session_start_info", session_start_info=start),
        _summary("session_end_info", session_end_info=SessionEndInfo(status=Status.STATUS_SUCCESS)),
    )


def _check(hparam_dict, metric_dict, domains):
    named = {
        "hparam_dict": hparam_dict,
        "metric_dict": metric_dict,
        "hparam_domain_discrete": domains,
    }
    for name, given in named.items():
        if not isinstance(given, dict):
            raise TypeError(f"parameter: {name} should be a dictionary, nothing logged.")
    for name, allowed in domains.items():
        if (
            name not in hparam_dict
            or not isinstance(allowed, list)
            or not all(isinstance(each, type(hparam_dict[name])) for each in allowed)
        ):
            raise TypeError(
                f"parameter: hparam_domain_discrete[{name}] should be a list of same type as "
                f"hparam_dict[{name}]."
            )


def _value(given):
    """The type of a hyperparameter, and its value. A boolean is a number, as in PyTorch."""
    if isinstance(given, str):
        return DataType.DATA_TYPE_STRING, Value(string_value=given)
    if isinstance(given, Tensor) and given.numel() == 1:
        given = given.item()
    if not isinstance(given, (int, float)):
        raise value_error(
            "value should be one of int, float, str, bool, or torch.Tensor",
            f"Convert it: {type(given).__name__} is none of these.",
        )
    return DataType.DATA_TYPE_FLOAT64, Value(number_value=given)


def _summary(part, **content):
    data = HParamsPluginData(version=0, **content).SerializeToString(deterministic=True)
    return Summary(value=[Summary.Value(tag=f"_hparams_/{part}", metadata=plugin("hparams", data))])
