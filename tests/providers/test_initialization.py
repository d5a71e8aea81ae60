from __future__ import annotations

import gc
import json
import os
import threading
from typing import TYPE_CHECKING

import pytest

from fresh_interpreter import output_of, run_fresh
from openprogram.errors import ProviderRuntimeInitializationError
from openprogram.providers.initialization import RuntimeInitializer, RuntimeSnapshot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Forking while threads run is what is tested; newer interpreters warn of it.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


def _nothing() -> None:
    """Register nothing."""


def _off() -> RuntimeSnapshot:
    return RuntimeSnapshot(mode="off")


def _parts(error: ProviderRuntimeInitializationError) -> tuple[str, str, str]:
    return (error.stage, error.cause_type, error.cause_message)


class Gate:
    """A step that waits until the test lets it go on."""

    def __init__(self, then: Callable[[], None] = _nothing) -> None:
        self.reached = threading.Event()
        self.released = threading.Event()
        self.count = 0
        self._then = then

    def __call__(self) -> None:
        self.count += 1
        self.reached.set()
        assert self.released.wait(30)
        self._then()


class Callers:
    """Threads that ask for the runtime at once, and what each of them met."""

    def __init__(self, initializer: RuntimeInitializer, count: int) -> None:
        self.met: list[object] = []
        self._initializer = initializer
        self._threads = [threading.Thread(target=self._ask) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive()

    def _ask(self) -> None:
        try:
            self.met.append(self._initializer.run())
        except BaseException as error:  # noqa: BLE001 - what a thread met is what is tested
            self.met.append(error)


def test_the_second_step_runs_after_the_first_and_both_once() -> None:
    steps: list[str] = []
    snapshot = _off()

    def decide() -> RuntimeSnapshot:
        steps.append("decide")
        return snapshot

    initializer = RuntimeInitializer(lambda: steps.append("register"), decide)
    assert initializer.run() is initializer.run() is snapshot
    assert steps == ["register", "decide"]


def test_threads_that_come_in_between_wait_for_the_same_snapshot() -> None:
    gate = Gate()
    initializer = RuntimeInitializer(gate, _off)
    callers = Callers(initializer, 8)
    assert gate.reached.wait(30)
    late = Callers(initializer, 8)
    assert callers.met == late.met == []
    gate.released.set()
    callers.join()
    late.join()
    assert gate.count == 1
    assert {id(met) for met in callers.met + late.met} == {id(initializer.run())}


def test_each_caller_gets_a_fresh_but_equal_failure() -> None:
    def fail() -> None:
        raise ImportError("no module named 'x'")

    gate = Gate(fail)
    initializer = RuntimeInitializer(gate, _off)
    callers = Callers(initializer, 5)
    assert gate.reached.wait(30)
    gate.released.set()
    callers.join()
    with pytest.raises(ProviderRuntimeInitializationError) as caught:
        initializer.run()
    errors = [*callers.met, caught.value]
    parts = ("register_builtins", "ImportError", "no module named 'x'")
    for error in errors:
        assert isinstance(error, ProviderRuntimeInitializationError)
        assert _parts(error) == parts
        assert error.__cause__ is None
        assert error.__context__ is None
    assert len({id(error) for error in errors}) == len(errors)
    assert gate.count == 1


def test_nothing_of_the_cause_is_kept_alive() -> None:
    class Payload(Exception):  # noqa: N818 - a cause with something in tow
        pass

    def fail() -> None:
        raise Payload("gone")

    initializer = RuntimeInitializer(fail, _off)
    with pytest.raises(ProviderRuntimeInitializationError):
        initializer.run()
    gc.collect()
    assert not [each for each in gc.get_objects() if isinstance(each, Payload)]


def test_a_cause_is_kept_without_secrets_short_and_printable() -> None:
    key = "sk-ant-api03-" + "AbCdEfGhIj0123456789" * 3

    def fail() -> None:
        raise ValueError(f"\x1b[2Jkey {key} " + "x" * 5000)

    with pytest.raises(ProviderRuntimeInitializationError) as caught:
        RuntimeInitializer(fail, _off).run()
    message = caught.value.cause_message
    assert key not in message
    assert message.isprintable()
    assert len(message) <= 1000


def test_a_cause_that_cannot_say_anything_is_a_failure_like_any_other() -> None:
    class Speechless(Exception):  # noqa: N818 - somebody else's
        def __str__(self) -> str:
            raise ValueError("no text")

    def fail() -> None:
        raise Speechless

    initializer = RuntimeInitializer(fail, _off)
    for _ in range(2):
        with pytest.raises(ProviderRuntimeInitializationError) as caught:
            initializer.run()
        assert _parts(caught.value) == ("register_builtins", "Speechless", "")


def test_asking_while_initializing_is_an_error_not_a_hang() -> None:
    met: list[RuntimeError] = []

    def ask_again() -> None:
        try:
            initializer.run()
        except RuntimeError as error:
            met.append(error)

    initializer = RuntimeInitializer(ask_again, _off)
    assert initializer.run().mode == "off"
    assert "just initializing" in str(met[0])


@pytest.mark.parametrize("control", [KeyboardInterrupt("k"), SystemExit(3), GeneratorExit()])
@pytest.mark.parametrize("step", ["register", "decide"])
def test_an_interruption_is_the_first_threads_own_and_the_others_failure(
    control: BaseException, step: str
) -> None:
    def interrupt() -> None:
        raise control

    gate = Gate(interrupt)

    def decide() -> RuntimeSnapshot:
        gate()
        return _off()

    initializer = RuntimeInitializer(gate if step == "register" else _nothing, decide)
    first = Callers(initializer, 1)
    assert gate.reached.wait(30)
    others = Callers(initializer, 4)
    gate.released.set()
    first.join()
    others.join()
    assert first.met == [control]
    with pytest.raises(ProviderRuntimeInitializationError) as caught:
        initializer.run()
    for error in (*others.met, caught.value):
        assert isinstance(error, ProviderRuntimeInitializationError)
        assert _parts(error) == ("initialization_interrupted", type(control).__name__, str(control))


def test_a_waiter_that_is_interrupted_spoils_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    initializer = RuntimeInitializer(gate, _off)
    first = Callers(initializer, 1)
    assert gate.reached.wait(30)

    def interrupted(*_: object) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threading.Condition, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            initializer.run()
    gate.released.set()
    first.join()
    assert initializer.run() is first.met[0]


def test_ctrl_c_just_before_the_others_are_woken_leaves_nobody_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = Gate()
    initializer = RuntimeInitializer(gate, _off)
    first = Callers(initializer, 1)
    assert gate.reached.wait(30)

    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(initializer._changed, "notify_all", interrupted)
    monkeypatch.setattr("openprogram.providers.initialization._RECHECK_SECONDS", 0.01)
    others = Callers(initializer, 4)
    gate.released.set()
    others.join()
    first.join()
    assert isinstance(first.met[0], KeyboardInterrupt)
    assert set(others.met) == {initializer.run()}


def _child_says(act: Callable[[], str]) -> str:
    """Fork, act in the child, and return what it has to say."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, act().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


def test_a_child_forked_in_the_middle_gets_an_error() -> None:
    gate = Gate()
    initializer = RuntimeInitializer(gate, _off)
    callers = Callers(initializer, 1)
    assert gate.reached.wait(30)

    def act() -> str:
        initializer.survive_fork()
        try:
            initializer.run()
        except ProviderRuntimeInitializationError as error:
            return f"{error.stage}: {error.cause_message}"
        return "no error"

    said = _child_says(act)
    gate.released.set()
    callers.join()
    assert said.startswith("initialization_interrupted: forked while another thread")
    assert initializer.run().mode == "off"


def test_a_child_forked_by_the_initializing_thread_goes_on() -> None:
    said: list[str] = []

    def fork() -> None:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            initializer.survive_fork()
            os.close(reading)
            pipes.append(writing)
            return
        os.close(writing)
        with os.fdopen(reading) as pipe:
            said.append(pipe.read())
        os.waitpid(child, 0)

    pipes: list[int] = []
    initializer = RuntimeInitializer(fork, _off)
    mode = initializer.run().mode
    if pipes:
        os.write(pipes[0], mode.encode())
        os._exit(0)
    assert said == ["off"]


_FORK_IN_THE_MIDDLE = """
import os, sys, threading, types
from openprogram.providers import initialize_provider_runtime, register

reached, released = threading.Event(), threading.Event()
def load(builtin):
    reached.set()
    released.wait()
    raise ImportError("late")
register._load = load

def ask():
    try:
        initialize_provider_runtime()
    except Exception:
        pass

thread = threading.Thread(target=ask)
thread.start()
reached.wait()
child = os.fork()
if child == 0:
    for call in (initialize_provider_runtime, register.register_builtins):
        try:
            call()
        except Exception as error:
            print(type(error).__name__, error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
released.set()
thread.join()
"""


def test_the_real_runtime_survives_a_fork_in_the_middle() -> None:
    first, second = output_of(_FORK_IN_THE_MIDDLE).splitlines()
    assert first.startswith("ProviderRuntimeInitializationError provider runtime failed at init")
    assert second.startswith("ProviderError this process was forked while another thread")


def test_two_threads_that_start_the_runtime_from_its_two_ends_never_wait_for_each_other() -> None:
    code = """
        import threading
        from openprogram.providers import initialization, initialize_provider_runtime, register
        from openprogram.providers import register_builtins

        importing = threading.Event()
        def load(builtin):
            # A vendor module, whose import asks for the runtime that waits for this import.
            if threading.current_thread() is first:
                importing.set()
                while isinstance(initialization._INITIALIZER._state, initialization._New):
                    pass
                initialize_provider_runtime()
            raise ImportError("defect")
        register._load = load

        def tell(call):
            try:
                call()
            except Exception as error:
                # Two prints at once mix their words; append is one step.
                told.append(f"{type(error).__name__} {str(error)[:50]}")

        told = []
        first = threading.Thread(target=tell, args=(register_builtins,))
        first.start()
        importing.wait()
        second = threading.Thread(target=tell, args=(initialize_provider_runtime,))
        second.start()
        first.join()
        second.join()
        print(*sorted(told), sep="\\n")
    """
    assert output_of(code).splitlines() == [
        "ProviderRuntimeInitializationError provider runtime failed at register_builtins: Impo",
        "RuntimeError the provider runtime was asked for by the code tha",
    ]


def test_the_real_runtime_is_off_without_settings_and_touches_nothing(state_dir: Path) -> None:
    code = """
        import sys, threading
        from openprogram.providers import initialize_provider_runtime
        snapshot = initialize_provider_runtime()
        assert initialize_provider_runtime() is snapshot
        print(snapshot.mode, threading.active_count(), "anthropic" in sys.modules)
    """
    assert output_of(code) == "off 1 False\n"
    assert not state_dir.exists()


def test_a_broken_vendor_module_fails_every_call_alike() -> None:
    code = """
        import sys
        from openprogram.providers import get_api_provider, initialize_provider_runtime, register
        from openprogram.providers import register_api_provider
        from openprogram.providers.register import Builtin

        register._REGISTRATION._builtins = (Builtin(api="x", module="no_such_vendor"),)
        register_api_provider("own", object())
        for call in (initialize_provider_runtime, lambda: get_api_provider("own")):
            try:
                call()
            except Exception as error:
                print(type(error).__name__, error.stage, error.cause_type, error.cause_message)
    """
    line = (
        "ProviderRuntimeInitializationError register_builtins ModuleNotFoundError "
        "No module named 'no_such_vendor'"
    )
    assert output_of(code).splitlines() == [line, line]


def test_settings_that_change_later_change_nothing(state_dir: Path) -> None:
    code = """
        import pathlib, sys
        from openprogram.providers import get_api_provider, initialize_provider_runtime
        before = get_api_provider("anthropic-messages")
        pathlib.Path(sys.argv[1]).mkdir(mode=0o700)
        (pathlib.Path(sys.argv[1]) / "config.json").write_text('{"record_replay": {"mode": "?"}}')
        assert get_api_provider("anthropic-messages") is before
        print(initialize_provider_runtime().mode)
    """
    assert output_of(code, str(state_dir)) == "off\n"


def test_ctrl_c_while_a_vendor_module_loads_ends_the_program_and_the_waiters() -> None:
    code = """
        import os, signal, threading
        from openprogram.errors import ProviderRuntimeInitializationError
        from openprogram.providers import initialize_provider_runtime, register

        reached = threading.Event()
        def load(builtin):
            reached.set()
            # One wait without end would sleep through a signal that comes just before it.
            while True:
                threading.Event().wait(0.01)
        register._load = load

        def wait_and_tell():
            reached.wait()
            asking.set()
            try:
                initialize_provider_runtime()
            except ProviderRuntimeInitializationError as error:
                print(error.stage, error.cause_type, flush=True)

        def interrupt():
            asking.wait()
            os.kill(os.getpid(), signal.SIGINT)

        asking = threading.Event()
        threads = [threading.Thread(target=each) for each in (wait_and_tell, interrupt)]
        for thread in threads:
            thread.start()
        initialize_provider_runtime()
    """
    done = run_fresh(code)
    assert done.stdout == "initialization_interrupted KeyboardInterrupt\n"
    assert done.stderr.endswith("KeyboardInterrupt\n")
    assert done.returncode != 0


def test_a_child_forked_after_ready_records_into_the_same_file(state_dir: Path) -> None:
    (state_dir / "recordings").mkdir(parents=True)
    (state_dir / "config.json").write_text(
        json.dumps({"record_replay": {"mode": "record", "file": "run"}})
    )
    code = """
        import os
        from openprogram.providers import get_api_provider, register_api_provider
        from scripted import Scripted, drain, request, text_events

        register_api_provider("scripted", Scripted(text_events("hello")))
        provider = get_api_provider("scripted")
        drain(provider.stream_simple(*request("parent")))
        child = os.fork()
        drain(provider.stream_simple(*request("both")))
        if child == 0:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        drain(provider.stream_simple(*request("parent again")))
    """
    output_of(code)
    verified = run_fresh(
        "from openprogram.__main__ import main; main(['recordings', 'verify', '--json'])"
    )
    (row,) = json.loads(verified.stdout)["recordings"]
    assert (row["valid"], row["call_count"], row["complete"]) == (True, 4, True)
