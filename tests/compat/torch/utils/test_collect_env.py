"""The report of a machine."""

import subprocess
import sys

from tapegrad.compat.torch.utils import collect_env


def test_the_report_names_versions_and_the_machine():
    text = collect_env.get_pretty_env_info()
    for line in ("served by: tapegrad", "Is CUDA available: False", "[pip3] numpy=="):
        assert line in text
    code = f"{sys.executable} -c 'print(3)'"
    assert collect_env.run(code) == (0, "3", "")
    module = "tapegrad.compat.torch.utils.collect_env"
    printed = subprocess.run([sys.executable, "-m", module], capture_output=True, text=True)
    assert printed.returncode == 0 and "Python version" in printed.stdout


def test_what_commands_say_of_the_machine():
    answers = {
        "lscpu": (0, "Architecture: x86_64", ""),
        "gcc --version": (0, "gcc (Debian 12.2.0-14) 12.2.0\nCopyright", ""),
        "nvidia-smi": (127, "", "not found"),
    }
    assert collect_env.get_cpu_info(answers.get) == "Architecture: x86_64"
    assert collect_env.get_gcc_version(answers.get) == "(Debian 12.2.0-14) 12.2.0"
    assert collect_env.get_nvidia_driver_version(answers.get) is None
    assert collect_env.get_gpu_info(answers.get) is None
