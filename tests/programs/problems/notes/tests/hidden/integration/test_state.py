def test_survives_a_restart(program):
    program.put("/notes/kept", body="x")
    before = program.port
    program.restart()
    assert program.port != before
    assert program.get("/notes/kept").body == b"x"
    program.kill()
    program.restart()
    assert program.get("/notes/kept").body == b"x"
    program.restart(fresh=True)
    assert program.get("/notes/kept").status == 404
    assert program.terminate(timeout=5) is not None


def test_keeps_many_at_once(program):
    replies = program.together([("PUT", f"/notes/n{number}", {"body": str(number)}) for number in range(8)])
    assert [reply.status for reply in replies] == [204] * 8
    with program.connect() as sock:
        sock.sendall(b"GET /notes/n3 HTTP/1.0\r\n\r\n")
        assert sock.makefile("rb").read().endswith(b"\r\n\r\n3")
    assert "n3" in program.logs()
