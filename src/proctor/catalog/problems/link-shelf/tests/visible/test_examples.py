def post(program, **members):
    reply = program.post("/links", json=members)
    assert reply.status == 201, reply.text
    return reply


def test_creates_a_link(program):
    program.restart(fresh=True)
    reply = post(program, url="https://example.org/docs", title="Our documents", code="docs")
    assert reply.json() == {"code": "docs", "url": "https://example.org/docs", "title": "Our documents"}
    assert reply.headers["Location"] == "/links/docs"
    assert reply.headers["ETag"].startswith('"')


def test_shows_a_link(program):
    made = post(program, url="http://example.org/")
    path = made.headers["Location"]
    reply = program.get(path)
    assert reply.status == 200
    assert reply.json() == made.json() == {"code": path.split("/")[2], "url": "http://example.org/", "title": ""}


def test_names_an_invalid_member(program):
    reply = program.post("/links", json={"url": "ftp://example.org/"})
    assert reply.status == 422
    assert list(reply.json()["errors"]) == ["url"]


def test_replaces_a_link(program):
    made = post(program, url="https://example.org/1", title="one")
    path = made.headers["Location"]
    reply = program.put(path, json={"url": "https://example.org/2"}, headers={"If-Match": made.headers["ETag"]})
    assert reply.status == 200
    assert reply.json() == {"code": made.json()["code"], "url": "https://example.org/2", "title": ""}
    assert program.get(path).json() == reply.json()
    assert program.put(path, json={"url": "https://example.org/3"}, headers={"If-Match": reply.headers["ETag"]}).status == 200
    assert program.put(path, json={"url": "https://example.org/4"}, headers={"If-Match": "*"}).status == 200
    tags = '"other", ' + program.get(path).headers["ETag"]
    assert program.put(path, json={"url": "https://example.org/5"}, headers={"If-Match": tags}).status == 200
    assert program.get(path).json()["url"] == "https://example.org/5"
