"""`CheckpointException`: what went wrong on which rank."""

from tapegrad.core.annotations import Any


class CheckpointException(BaseException):
    """Some ranks failed; raised on all of them. As in PyTorch it is no `Exception`."""

    def __init__(self, msg: str, failures: dict[int, Any]) -> None:
        super().__init__(msg, failures)
        self._failures = failures

    @property
    def failures(self) -> dict[int, Any]:
        """What each rank that failed has raised."""
        return self._failures

    def __str__(self) -> str:
        lines = [f"CheckpointException ranks:{self._failures.keys()}"]
        for rank, error in self._failures.items():
            lines.append(f"(RANK {rank}) {type(error).__name__}: {error}")
        return "\n".join(lines)
