"""Owner-only files: no link is followed, nothing waits, a replaced file is whole at any moment."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from openprogram import _private_files
from openprogram._private_files import ExclusiveLock, Rule
from openprogram.errors import ConfigError, FileLockedError, UnsafeFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_UNDER_UMASK = """
import os, sys
os.umask(int(sys.argv[1], 8))
from openprogram import _private_files, paths
os.close(_private_files.ensure_private_directory(paths.recordings_dir()))
_private_files.replace_file(paths.config_path(), b"{}")
with _private_files.ExclusiveLock(paths.config_path()):
    pass
"""


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def root(state_dir: Path) -> Path:
    os.close(_private_files.ensure_private_directory(state_dir))
    return state_dir


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "outside"
    path.mkdir(mode=0o755)
    (path / "victim").write_text("untouched")
    (path / "victim").chmod(0o644)
    return path


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        # A socket's address is short, whatever the length of its path.
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            server.bind(f"/proc/self/fd/{folder}/{path.name}")
        finally:
            os.close(folder)


def make_directory(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("umask", ["000", "022", "077"])
def test_directories_and_files_are_owner_only_whatever_the_umask(state_dir: Path, umask: str):
    nested = state_dir / "on" / "the" / "way"
    environment = os.environ | {"OPENPROGRAM_STATE_DIR": str(nested)}
    subprocess.run([sys.executable, "-c", _UNDER_UMASK, umask], env=environment, check=True)
    made = [state_dir, *state_dir.rglob("*")]
    assert {mode_of(path) for path in made if path.is_dir()} == {0o700}
    files = {path.name: mode_of(path) for path in made if path.is_file()}
    assert files == {"config.json": 0o600, "config.json.lock": 0o600}


def test_an_open_directory_is_tightened_at_every_level(state_dir: Path):
    folder = state_dir / "recordings"
    folder.mkdir(parents=True)
    for path in (state_dir, folder):
        path.chmod(0o777)
    os.close(_private_files.ensure_private_directory(folder))
    assert (mode_of(state_dir), mode_of(folder)) == (0o700, 0o700)


def test_opening_a_directory_changes_and_makes_nothing(state_dir: Path):
    with pytest.raises(FileNotFoundError):
        _private_files.open_private_directory(state_dir / "recordings")
    assert not state_dir.exists()
    (state_dir / "recordings").mkdir(parents=True, mode=0o755)
    state_dir.chmod(0o755)
    os.close(_private_files.open_private_directory(state_dir / "recordings"))
    assert (mode_of(state_dir), mode_of(state_dir / "recordings")) == (0o755, 0o755)


@pytest.mark.parametrize("level", ["a", "a/b", "a/b/c"])
@pytest.mark.parametrize(
    "open_it", [_private_files.ensure_private_directory, _private_files.open_private_directory]
)
def test_a_linked_directory_below_the_state_is_refused_at_every_level(
    root: Path, outside: Path, level: str, open_it: Callable[[Path], int]
):
    link = root / level
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside)
    with pytest.raises(UnsafeFileError) as caught:
        open_it(root / "a" / "b" / "c")
    assert caught.value.rule == Rule.SYMLINK
    assert caught.value.path == link
    assert sorted(path.name for path in outside.iterdir()) == ["victim"]
    assert mode_of(outside) == 0o755


def test_a_file_in_the_place_of_a_directory_is_refused(root: Path):
    (root / "a").touch()
    with pytest.raises(UnsafeFileError, match="not a directory"):
        _private_files.ensure_private_directory(root / "a" / "b")


def test_a_file_in_the_place_of_the_state_directory_is_refused(state_dir: Path):
    # Whoever named it is told to name another: the file may be anybody's.
    state_dir.touch()
    with pytest.raises(UnsafeFileError, match="not a directory; set OPENPROGRAM_STATE_DIR"):
        _private_files.ensure_private_directory(state_dir)


@pytest.mark.parametrize("place", ["/proc/nope", "/dev/null/x"])
def test_a_state_directory_that_cannot_be_made_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, place: str
):
    monkeypatch.setenv("OPENPROGRAM_STATE_DIR", place)
    rule = f"^'{place}': the state directory cannot be made: .*; set OPENPROGRAM_STATE_DIR to "
    with pytest.raises(ConfigError, match=rule):
        _private_files.ensure_private_directory(Path(place, "recordings"))


def test_a_state_directory_that_cannot_be_opened_says_what_to_set(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_words: object, **_options: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ConfigError, match="cannot be opened: Permission denied; set OPENPROGRAM_"):
        _private_files.open_private_directory(state_dir)


def test_every_rule_has_a_remedy_and_every_refusal_tells_it(root: Path):
    assert all(rule.remedy for rule in Rule)
    (root / "x").symlink_to("y")
    with pytest.raises(UnsafeFileError) as caught:
        _private_files.read_file(root / "x")
    assert str(caught.value) == f"'{root / 'x'}': {Rule.SYMLINK}; {Rule.SYMLINK.remedy}"


def test_the_state_directory_itself_may_be_reached_through_a_link(root: Path, tmp_path: Path):
    target = tmp_path / "elsewhere"
    root.rename(target)
    root.symlink_to(target)
    os.close(_private_files.ensure_private_directory(root / "recordings"))
    assert mode_of(target / "recordings") == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_another_users_directory_is_refused(root: Path):
    (root / "a").mkdir()
    os.chown(root / "a", 12345, -1)
    with pytest.raises(UnsafeFileError) as caught:
        _private_files.open_private_directory(root / "a")
    assert caught.value.rule == Rule.NOT_OWNED


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_another_users_file_is_refused_unless_ownership_does_not_matter(root: Path):
    (root / "file").touch()
    os.chown(root / "file", 12345, -1)
    with pytest.raises(UnsafeFileError) as caught:
        _private_files.open_private_file(root / "file", os.O_RDONLY)
    assert caught.value.rule == Rule.NOT_OWNED
    os.close(_private_files.open_private_file(root / "file", os.O_RDONLY, must_own=False))


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR | os.O_CREAT])
@pytest.mark.parametrize("make", [make_fifo, make_socket, make_directory])
def test_what_is_no_regular_file_is_refused_without_waiting(
    root: Path, make: Callable[[Path], None], flags: int
):
    make(root / "odd")
    with pytest.raises(UnsafeFileError) as caught:
        _private_files.open_private_file(root / "odd", flags)
    assert caught.value.rule == Rule.NOT_REGULAR


def test_a_device_is_refused():
    with pytest.raises(UnsafeFileError, match="not a regular file"):
        _private_files.open_private_file(Path("/dev/null"), os.O_RDONLY, must_own=False)


@pytest.mark.parametrize("dangling", [False, True])
@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_RDWR | os.O_CREAT])
def test_a_link_is_refused_and_its_target_untouched(
    root: Path, outside: Path, flags: int, *, dangling: bool
):
    target = outside / ("new" if dangling else "victim")
    (root / "file").symlink_to(target)
    with pytest.raises(UnsafeFileError) as caught:
        _private_files.open_private_file(root / "file", flags, tighten=True)
    assert caught.value.rule == Rule.SYMLINK
    assert sorted(path.name for path in outside.iterdir()) == ["victim"]
    assert mode_of(outside / "victim") == 0o644


def test_outside_the_state_the_directory_is_taken_as_it_is(tmp_path: Path, outside: Path):
    (tmp_path / "link").symlink_to(outside)
    os.close(_private_files.open_private_file(tmp_path / "link" / "victim", os.O_RDONLY))
    with pytest.raises(FileNotFoundError):
        _private_files.open_private_file(tmp_path / "missing" / "file", os.O_RDWR | os.O_CREAT)


def test_descriptors_are_closed_on_exec(root: Path):
    fd = _private_files.open_private_file(root / "file", os.O_RDWR | os.O_CREAT)
    folder = _private_files.open_private_directory(root)
    assert (os.get_inheritable(fd), os.get_inheritable(folder)) == (False, False)
    os.close(fd)
    os.close(folder)


def test_tightening_makes_the_mode_exactly_0600(root: Path):
    for mode in (0o000, 0o400, 0o644, 0o4755):
        path = root / f"{mode:o}"
        path.touch()
        path.chmod(mode)
        os.close(_private_files.open_private_file(path, os.O_RDONLY, tighten=True))
        assert mode_of(path) == 0o600


def test_a_mode_that_does_not_stick_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch):
    (root / "file").touch(mode=0o644)

    def ignored(_fd: int, _mode: int) -> None:
        return None

    monkeypatch.setattr(os, "fchmod", ignored)
    with pytest.raises(UnsafeFileError, match="does not keep the mode 0600"):
        _private_files.open_private_file(root / "file", os.O_RDONLY, tighten=True)


def test_everything_is_written_however_short_each_write_is(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    write = os.write

    def a_little(fd: int, data: memoryview) -> int:
        return write(fd, data[:3])

    fd = _private_files.open_private_file(root / "file", os.O_RDWR | os.O_CREAT)
    monkeypatch.setattr(os, "write", a_little)
    _private_files.write_all(fd, b"0123456789")
    os.close(fd)
    assert _private_files.read_file(root / "file") == b"0123456789"


def test_a_replaced_file_is_tight_and_whole_and_leaves_nothing_beside_it(root: Path):
    path = root / "config.json"
    path.write_text("old")
    path.chmod(0o666)
    _private_files.replace_file(path, b"new" * 100_000)
    assert path.read_bytes() == b"new" * 100_000
    assert mode_of(path) == 0o600
    assert [path.name for path in root.iterdir()] == ["config.json"]


@pytest.mark.parametrize("step", ["write", "fsync", "replace", "fchmod"])
@pytest.mark.parametrize("failure", [OSError(28, "no space left"), KeyboardInterrupt()])
def test_a_failed_replacement_leaves_the_old_file_and_no_other(
    root: Path, monkeypatch: pytest.MonkeyPatch, step: str, failure: BaseException
):
    path = root / "config.json"
    path.write_text("old")

    def fail(*_args: object, **_options: object) -> None:
        raise failure

    # Under this umask a new file starts without any mode, so that it must be given one.
    previous = os.umask(0o777)
    monkeypatch.setattr(os, step, fail)
    try:
        with pytest.raises((type(failure), UnsafeFileError)):
            _private_files.replace_file(path, b"new")
    finally:
        os.umask(previous)
    assert path.read_text() == "old"
    assert [path.name for path in root.iterdir()] == ["config.json"]


def test_a_killed_replacement_leaves_the_old_file_whole(root: Path):
    path = root / "config.json"
    path.write_text("old")
    code = (
        "import os, signal; from openprogram import _private_files, paths\n"
        "os.replace = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        "_private_files.replace_file(paths.config_path(), b'new')"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -9
    assert path.read_text() == "old"
    assert {mode_of(path) for path in root.iterdir() if path.name != "config.json"} == {0o600}


@pytest.mark.parametrize("kind", ["link", "fifo", "directory"])
def test_only_a_regular_file_is_replaced(root: Path, outside: Path, kind: str):
    path = root / "config.json"
    if kind == "link":
        path.symlink_to(outside / "victim")
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(UnsafeFileError):
        _private_files.replace_file(path, b"new")
    assert (outside / "victim").read_text() == "untouched"


def test_the_longest_name_can_be_replaced(root: Path):
    path = root / ("n" * 255)
    _private_files.replace_file(path, b"new")
    assert path.read_bytes() == b"new"


def test_a_lock_is_given_once_at_a_time_and_its_file_stays(root: Path):
    target = root / "config.json"
    with ExclusiveLock(target), pytest.raises(FileLockedError):
        ExclusiveLock(target, timeout_seconds=0).__enter__()
    with ExclusiveLock(target, timeout_seconds=0):
        pass
    assert mode_of(root / "config.json.lock") == 0o600


def test_a_lock_ends_with_its_block_whatever_happens_in_it(root: Path):
    with pytest.raises(KeyboardInterrupt), ExclusiveLock(root / "config.json"):
        raise KeyboardInterrupt
    with ExclusiveLock(root / "config.json", timeout_seconds=0):
        pass


def test_a_linked_lock_file_is_refused(root: Path, outside: Path):
    (root / "config.json.lock").symlink_to(outside / "victim")
    with pytest.raises(UnsafeFileError):
        ExclusiveLock(root / "config.json").__enter__()
    assert mode_of(outside / "victim") == 0o644


@pytest.fixture(autouse=True)
def no_descriptor_leaks() -> Iterator[None]:
    def count() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = count()
    yield
    assert count() == before
