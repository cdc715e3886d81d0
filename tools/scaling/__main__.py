"""Write docs/scaling.md from recorded.json and page.md.

python -m tools.scaling            write the page
python -m tools.scaling --check    1 if the page is not what would be written
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.scaling.costs import ALGORITHMS, Network
from tools.scaling.record import FILE
from tools.scaling.replay import Step, step_time

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scaling.md"
RANKS = (2, 8, 32, 128, 512, 1024, 2048, 4096, 8192, 10_000)
SLOW = "10 Gb/s Ethernet"
UNIT = 32  # a layer of so many, in the table of memory


def fitted(kept: dict) -> Network:
    """The network of this computer: a message and a byte of an all-reduce between 2 ranks."""
    two, sizes = kept["ranks"]["2"], kept["sizes"]
    gamma = two["gamma"]
    alpha = two["all_reduce"][0]  # by a tree: one message
    beta = two["all_reduce"][-1] / sizes[-1] - gamma / 2
    return Network(alpha, beta, gamma)


def networks(kept: dict) -> dict[str, Network]:
    here = fitted(kept)
    return {
        "shared memory": here,
        SLOW: Network(30e-6, 1 / 1.25e9, here.gamma),
        "100 Gb/s InfiniBand": Network(2e-6, 1 / 12.5e9, here.gamma),
    }


def best(step: Step, p: int, net: Network) -> tuple[float, str]:
    """The time of a step by the algorithm that is best for it, and its name."""
    return min((step_time(step, p, cost, net), name) for name, cost in ALGORITHMS.items())


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def calibration(kept: dict) -> str:
    here, sizes = fitted(kept), kept["sizes"]
    rows = []
    for i in range(len(sizes)):
        row: list[object] = [sizes[i]]
        for p, found in kept["ranks"].items():
            model = min(cost(sizes[i], int(p), here) for cost in ALGORITHMS.values())
            row.append(f"{1e6 * found['all_reduce'][i]:.0f}, {1e6 * model:.0f}")
        rows.append(row)
    head = ["bytes", *(f"{p} ranks: measured, model (us)" for p in kept["ranks"])]
    return table(head, rows)


def efficiency(step: Step, nets: dict[str, Network]) -> str:
    rows = []
    for p in RANKS:
        row: list[object] = [f"{p:,}"]
        for net in nets.values():
            taken, name = best(step, p, net)
            row.append(f"{step.compute_s / taken:.0%} {name[0]}")
        rows.append(row)
    return table(["ranks", *nets], rows)


def algorithms(step: Step, net: Network) -> str:
    rows = [
        [f"{p:,}", *(f"{step_time(step, p, cost, net):.2f}" for cost in ALGORITHMS.values())]
        for p in RANKS
    ]
    return table(["ranks", *ALGORITHMS], rows)


def limits(step: Step, nets: dict[str, Network], store_s: float) -> str:
    """Where efficiency falls, and by what."""
    found = []
    for name, net in nets.items():
        p = next((p for p in RANKS if step.compute_s / best(step, p, net)[0] < 0.9), None)
        where = f"falls below 90 % at {p:,} ranks" if p else "stays above 90 % to the end"
        found.append(f"- {name}: efficiency {where}.")
    slow, last = nets[SLOW], step.buckets[-1][1]
    tail = min(cost(last, RANKS[-1], slow) for cost in ALGORITHMS.values())
    quick = next(k for k in range(1, 1000) if _ratio(step, slow, k) < 0.9)
    ring = 2 * (RANKS[-1] - 1) * slow.alpha
    found += [
        f"- Time: a ring of {RANKS[-1]:,} ranks sends {2 * (RANKS[-1] - 1):,} messages one after "
        f"another, {ring:.2f} s for each bucket by Ethernet however small it is. Smaller buckets, "
        "which hide more, cost more of them.",
        f"- The last bucket, of {last / 1e6:.0f} MB, is full when the backward pass is over, and "
        f"nothing hides it: {tail:.3f} s.",
        "- A rank that computes faster leaves less to hide behind: with 1,024 ranks by Ethernet "
        f"efficiency is below 90 % when it computes {quick} times as fast, and it is far from "
        "what GPUs do.",
        "- Starting: each rank asks rank 0's store once for every other. At "
        f"{1e6 * store_s:.0f} us a request that is {1e6 * store_s:.0f} s for 1,000 ranks and "
        f"{1e8 * store_s / 60:.0f} minutes for 10,000, with two threads for each rank: some "
        "thousand ranks are this library's own limit.",
        "- Learning: the batch grows with the ranks. Beyond the critical batch size (McCandlish et "
        "al., An Empirical Model of Large-Batch Training, 2018) more ranks no longer save steps, "
        "whatever the network does.",
        "- Failures: a run ends when one rank does. If each fails once in 5 years, one of 10,000 "
        f"fails every {5 * 365 * 24 / 10_000:.0f} hours; `--max-restarts` goes back to the last "
        "checkpoint.",
    ]
    return "\n".join(found)


def faster(step: Step, k: float) -> Step:
    """The step of a rank that computes k times as fast."""
    return Step(step.compute_s / k, [(ready / k, n) for ready, n in step.buckets])


def _ratio(step: Step, net: Network, k: int) -> float:
    """The efficiency of 1,024 ranks that compute k times as fast."""
    return step.compute_s / k / best(faster(step, k), 1024, net)[0]


def memory() -> str:
    """GB a rank of each way to share out."""
    rows = []
    for phi in (124e6, 1.5e9, 7e9):
        for p in (8, 64, 1024):
            ways = [
                20 * phi,
                12 * phi + 8 * phi / p,
                8 * phi + 12 * phi / p,
                16 * phi / p + 2 * 4 * phi / UNIT,
            ]
            rows.append([f"{phi / 1e6:,.0f} M", p, *(f"{each / 1e9:.1f}" for each in ways)])
    return table(["parameters", "ranks", "DDP", "ZeRO 1", "ZeRO 2", "ZeRO 3, FSDP (GB)"], rows)


def page() -> str:
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    recorded, calibrated = kept["trace"], kept["calibrate"]
    step = Step(recorded["compute_s"], [tuple(each) for each in recorded["buckets"]])
    nets = networks(calibrated)
    told = {
        "cores": calibrated["cores"],
        "parameters": f"{recorded['parameters'] / 1e6:.0f}",
        "megabytes": f"{step.n_bytes / 1e6:.0f}",
        "tokens": f"{recorded['tokens']:,}",
        "compute": f"{step.compute_s:.2f}",
        "n_buckets": len(step.buckets),
        "networks": "\n".join(
            f"| {name} | {1e6 * net.alpha:.1f} us | {1e9 * net.beta:.3f} ns a byte |"
            for name, net in nets.items()
        ),
        "gamma": f"{1e9 * nets[SLOW].gamma:.3f}",
        "calibration": calibration(calibrated),
        "efficiency": efficiency(step, nets),
        "slow": SLOW,
        "quicker": efficiency(faster(step, 100), nets),
        "algorithms": algorithms(step, nets[SLOW]),
        "limits": limits(step, nets, calibrated["ranks"]["2"]["store"]),
        "unit": UNIT,
        "memory": memory(),
    }
    text = Path(__file__).with_name("page.md").read_text(encoding="utf-8")
    return text.format(**told)


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    text = page()
    if arguments:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
