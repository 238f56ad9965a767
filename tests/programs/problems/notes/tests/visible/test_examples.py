def test_gives_back_what_was_put(program):
    assert program.put("/notes/a", body="hello").status == 204
    reply = program.get("/notes/a")
    assert (reply.status, reply.text) == (200, "hello")
    assert reply.headers["CONTENT-LENGTH"] == "5"


def test_answers_404(program):
    assert program.get("/notes/none").status == 404
