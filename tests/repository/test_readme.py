"""The README opens with a program, and says how to see it work and how to test it."""

import re

import pytest

from tests.repository.pages import README, blocks


def test_the_readme_opens_with_a_program_and_its_output():
    first = next(blocks(README))
    assert first.id == "README.md:11"
    assert first.values[1]


@pytest.mark.parametrize("word", ["tapegrad demo", "pytest"])
def test_the_readme_has_one_command_for_the_demo_and_one_for_the_tests(word):
    shell = re.findall(r"^```sh\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)
    commands = [line for block in shell for line in block.splitlines() if word in line]
    assert len(commands) == 1
    assert commands[0].startswith("python3 -m venv .venv && ")
