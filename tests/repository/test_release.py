"""What is published: what the wheel weighs."""

from tools import release


def test_the_wheel_stays_below_its_bound():
    weights = release.weigh(release.sources())
    assert weights["Python"] > 1_000_000
    assert weights.total() < release.BOUND, release.table(weights)


def test_a_file_weighs_what_it_is_compressed_to_and_what_is_said_of_it(monkeypatch, tmp_path):
    monkeypatch.setattr(release, "SOURCE", tmp_path)
    (tmp_path / "a.py").write_text("x = 1\n" * 1000, encoding="utf-8")
    (tmp_path / "b.pyi").write_text("x: int\n", encoding="utf-8")
    weights = release.weigh(release.sources())
    assert weights["Python"] < 50 and weights["type stubs"] < 20
    assert weights["directory of the archive, digests"] == 2 * (76 + 46) + 2 * (4 + 5)
    assert release.table(weights).endswith(f"{weights.total():>10,}  all, of 3,000,000 at most")
