"""`torch.export` by name: there is no compiler that a program could be exported for."""

from tapegrad.compat.refusal import refusing as _refusing

ADVICE = (
    "tapegrad exports no programs: torch.jit.trace records calls, torch.save(model.state_dict(), "
    "path) writes weights that PyTorch reads."
)

__getattr__ = _refusing(
    __name__,
    ADVICE,
    functions=(
        "Dim default_decompositions dims draft_export export export_for_training load "
        "register_dataclass save unflatten"
    ),
    classes=(
        "AdditionalInputs Constraint CustomDecompTable ExportBackwardSignature "
        "ExportGraphSignature ExportedProgram FlatArgsAdapter ModuleCallEntry "
        "ModuleCallSignature ShapesCollection UnflattenedModule"
    ),
    submodules="dynamic_shapes exported_program graph_signature",
)
