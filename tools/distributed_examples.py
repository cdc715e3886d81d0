"""PyTorch's examples of distributed training, run on two ranks of this computer.

    git clone --depth 1 https://github.com/pytorch/examples
    python -m tools.distributed_examples examples/distributed

runs copies of the scripts in which the lines about GPUs are changed, by `CHANGES`, and shows the
difference with `--diff`. minGPT-ddp needs hydra-core, fsspec and boto3 in the same environment,
FSDP2 with mixed precision ml_dtypes.
The exit status is the number of scripts that failed.
"""

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CHANGES = {  # patterns, and what stands in their place
    r"\.to\((self\.)?(gpu_id|local_rank|rank)\)": '.to("cpu")',
    r", device_ids=\[[^]]*\]": "",
    r'f"cuda:\{.*?\}"': '"cpu"',
    r'"nccl"': '"gloo"',
    r"device = 0 .*": 'device = "cpu"',
    r"torch\.cuda\.device_count\(\)": "2",
    r"torch\.accelerator\.current_accelerator\(\)": '"cpu"',
    r" *torch\.(cuda\.set_device|accelerator\.set_device_index)\(.*\)\n": "",
    r"return has_gpu and gpu_count >= min_gpus": "return True",
}
_SMALL = (
    "gpt_config.n_layer=2 gpt_config.n_head=2 gpt_config.n_embd=32 data_config.block_size=32 "
    "data_config.truncate=0.003 data_config.path=data/input.txt trainer_config.max_epochs=2 "
    "trainer_config.batch_size=64 trainer_config.data_loader_workers=0 "
    "trainer_config.use_amp=False trainer_config.save_every=1"
)
SCRIPTS = [  # how many ranks torchrun starts (0: none, by `tapegrad run`), arguments, what is said
    ("ddp-tutorial-series/single_gpu.py", 0, "2 1", "Epoch 1 | Training checkpoint saved"),
    ("ddp-tutorial-series/multigpu.py", 2, "2 1", "[GPU1] Epoch 1"),
    ("ddp-tutorial-series/multigpu_torchrun.py", 2, "2 1", "Epoch 1 | Training snapshot saved"),
    ("ddp-tutorial-series/multinode.py", 2, "3 1", "Resuming training from snapshot at Epoch 1"),
    ("ddp/example.py", 2, "", "training completed in rank 1!"),
    ("minGPT-ddp/mingpt/main.py", 2, _SMALL, "Snapshot saved at epoch 2"),
    ("FSDP2/example.py", 2, "", "FSDPTransformer("),
    ("FSDP2/example.py", 2, "", "FSDPTransformer("),  # goes on from what the first has saved
    ("FSDP2/example.py", 2, "--dcp-api --explicit-prefetching", "FSDPTransformer("),
    ("FSDP2/example.py", 2, "--dcp-api --mixed-precision", "FSDPTransformer("),
]


def changed(text: str) -> str:
    for pattern, other in CHANGES.items():
        text = re.sub(pattern, other, text)
    return text


def run(script: Path, n: int, args: str) -> subprocess.CompletedProcess:
    start = ["torchrun", "--nproc-per-node", str(n)] if n else ["run"]
    command = [sys.executable, "-m", "tapegrad", *start, script.name, *args.split()]
    return subprocess.run(command, cwd=script.parent, capture_output=True, text=True, timeout=300)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="`distributed` of pytorch/examples")
    parser.add_argument("--diff", action="store_true", help="show what is changed, run nothing")
    args = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "distributed"
        shutil.copytree(args.folder, copy)
        for path in sorted(copy.rglob("*.py")):
            before = path.read_text()
            path.write_text(changed(before))
            name = str(path.relative_to(copy))
            if args.diff and any(name.startswith(os.path.dirname(each)) for each, *_ in SCRIPTS):
                ends = (before.splitlines(True), changed(before).splitlines(True))
                sys.stdout.writelines(difflib.unified_diff(*ends, name, name, n=0))
        for name, n, words, said in () if args.diff else SCRIPTS:
            done = run(copy / name, n, words)
            good = not done.returncode and said in done.stdout
            failures += not good
            print(f"{name} {words}: {'runs' if good else 'fails'}", flush=True)
            if not good:
                print(done.stdout[-2000:], done.stderr[-3000:], sep="\n")
    return failures


if __name__ == "__main__":
    sys.exit(main())
