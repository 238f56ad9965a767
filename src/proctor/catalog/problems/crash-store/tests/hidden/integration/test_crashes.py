import time


def wait_for(condition, seconds=10):
    """Wait until the condition holds; how long it takes does not matter."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.02)


def listed(program):
    done = program.run("list")
    assert done.code == 0, done.err
    return dict(line.split("\t", 1) for line in done.out.splitlines())


def grow(program, count):
    """Set as many keys, one record each; the sizes of the file after each of them."""
    sizes = []
    for number in range(count):
        assert program.run("set", f"k{number}", f"value {number}").code == 0
        sizes.append(program.list()["store.log"])
    return sizes


def test_a_session_answers_at_once(program):
    job = program.start("session")
    job.send("set a 1\n")
    wait_for(lambda: job.out() == "OK\n")
    job.send("get a\nget")
    wait_for(lambda: job.out() == "OK\nVALUE 1\n")
    job.send(" b\n")
    wait_for(lambda: job.out() == "OK\nVALUE 1\nNONE\n")
    job.kill()
    job.wait(5)


def test_acknowledged_changes_survive_a_kill(program):
    for round_ in range(2):
        program.fresh()
        job = program.start("session")
        job.send("".join(f"set k{n} {round_}\n" for n in range(6000)))
        wait_for(lambda: job.out().count("OK\n") > 100 + 700 * round_)
        job.kill()
        job.wait(5)
        acknowledged = job.out().count("OK\n")
        found = listed(program)
        assert len(found) >= acknowledged
        assert all(found.get(f"k{n}") == str(round_) for n in range(acknowledged))


def test_changes_are_appended(program):
    before = b""
    for arguments, stdin in (
        (["set", "a", "1"], ""),
        (["set", "a", "22"], ""),
        (["del", "a"], ""),
        (["batch"], "set a 1\nset b 2\n"),
        (["session"], "set a 3\ndel b\n"),
        (["set", "a", "1"], ""),
    ):
        assert program.run(*arguments, stdin=stdin).code == 0
        log = program.read("store.log")
        assert log.startswith(before)
        assert len(log) > len(before)
        before = log
    program.run("get", "a")
    program.run("list")
    assert program.read("store.log") == before


def test_goes_on_after_an_incomplete_record(program):
    sizes = grow(program, 3)
    log = program.read("store.log")
    for size in (sizes[1] + 1, sizes[2] - 1):
        program.write("store.log", log[:size])
        for number in range(3):
            assert program.run("set", f"new{number}", "x" * number).code == 0
        found = listed(program)
        assert {f"new{number}": "x" * number for number in range(3)}.items() <= found.items()
        assert "k2" not in found
        assert program.run("session", stdin="get k2\nset k2 again\nget k2\n").out.splitlines() == ["NONE", "OK", "VALUE again"]
        assert program.run("get", "k2").out == "again\n"


def test_half_a_batch_is_none(program):
    sizes = grow(program, 2)
    batch = "del k0\n" + "".join(f"set b{n} {n}\n" for n in range(20)) + "set k1 changed\n"
    assert program.run("batch", stdin=batch).code == 0
    log = program.read("store.log")
    whole = listed(program)
    assert len(whole) == 21
    for part in (0.1, 0.5, 0.9, 0.999):
        program.write("store.log", log[: int(sizes[-1] + (len(log) - sizes[-1]) * part)])
        found = listed(program)
        assert not any(key.startswith("b") for key in found)
        assert "changed" not in found.values()
    program.write("store.log", log)
    assert listed(program) == whole


def test_notices_damage(program):
    sizes = grow(program, 4)
    log = program.read("store.log")
    assert listed(program)["k3"] == "value 3"
    step = max(1, sizes[1] // 7)
    for place in range(0, sizes[1], step):
        damaged = bytearray(log)
        damaged[place] ^= 1
        program.write("store.log", bytes(damaged))
        done = program.run("list")
        assert (done.code, done.out) == (3, ""), place
        assert done.err.strip()


def test_refuses_every_command_on_damage(program):
    sizes = grow(program, 4)
    log = bytearray(program.read("store.log"))
    log[(sizes[0] + sizes[1]) // 2] ^= 4
    program.write("store.log", bytes(log))
    for arguments in (["get", "k0"], ["set", "a", "1"], ["del", "k0"], ["list"], ["batch"], ["compact"], ["session"]):
        done = program.run(*arguments, stdin="set a 1\n")
        assert (done.code, done.out) == (3, ""), arguments
        assert program.read("store.log") == bytes(log)


def test_compaction_keeps_what_is_present(program):
    history = "".join(f"set again secret{n}\nset gone{n} hidden\ndel gone{n}\n" for n in range(300))
    assert program.run("session", stdin=history + "set a  1\nset again last\n").code == 0
    before = listed(program)
    size = program.list()["store.log"]
    done = program.run("compact")
    assert (done.code, done.out) == (0, "OK\n")
    assert listed(program) == before == {"a": " 1", "again": "last"}
    assert program.list()["store.log"] < size / 20
    assert b"hidden" not in program.read("store.log")
    assert program.run("set", "b", "2").code == 0
    assert listed(program) == {**before, "b": "2"}


def test_a_killed_compaction_loses_nothing(program):
    wanted = {f"k{n:05}": f"value {n}" for n in range(8000)}
    changes = "".join(f"set {key} old\n" for key in list(wanted)[:2000])
    changes += "".join(f"set {key} {value}\n" for key, value in wanted.items())
    assert program.run("batch", stdin=changes).code == 0
    log = program.read("store.log")
    for delay in (0, 0.02, 0.1):
        program.fresh()
        program.write("store.log", log)
        job = program.start("compact")
        # Killed as soon as it is seen at work, and a little later; or it was quicker than that.
        while program.list() == {"store.log": len(log)} and job.wait(0.01) is None:
            pass
        time.sleep(delay)
        job.kill()
        job.wait(5)
        assert listed(program) == wanted


def test_compaction_leaves_no_other_file(program):
    changes = "".join(f"set k{n} old\nset k{n} new\n" for n in range(3000))
    assert program.run("batch", stdin=changes).code == 0
    for _ in range(2):
        job = program.start("compact")
        before = program.list()
        while program.list() == before and job.wait(0.01) is None:
            pass
        job.kill()
        job.wait(5)
    assert program.run("compact").out == "OK\n"
    assert list(program.list()) == ["store.log"]
