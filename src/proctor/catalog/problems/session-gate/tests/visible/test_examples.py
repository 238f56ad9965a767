"""What using the service looks like."""


def test_registers_an_account(program):
    reply = program.post("/users", json={"name": "ada-1", "password": "correct horse"})
    assert reply.status == 201
    assert reply.json() == {"name": "ada-1"}


def test_says_who_a_caller_is(program):
    account = {"name": "ada-2", "password": "correct horse"}
    program.post("/users", json=account)
    token = program.post("/sessions", json=account).json()["token"]
    reply = program.get("/me", headers={"Authorization": f"Bearer {token}"})
    assert (reply.status, reply.json()) == (200, {"name": "ada-2"})


def test_refuses_a_wrong_password(program):
    program.post("/users", json={"name": "ada-3", "password": "correct horse"})
    reply = program.post("/sessions", json={"name": "ada-3", "password": "wrong horse!"})
    assert reply.status == 401
    assert "error" in reply.json()
