def make(program, code, url="https://example.org/"):
    reply = program.post("/links", json={"url": url, "code": code})
    assert reply.status == 201, reply.text
    return reply


def test_sends_visitors_on(program):
    url = "https://example.org/a%20b?q=1&r=%C3%A9#part"
    code = program.post("/links", json={"url": url}).json()["code"]
    reply = program.get("/go/" + code)
    assert reply.status == 302
    assert reply.headers["Location"] == url


def test_counts_hits(program):
    make(program, "counted")
    make(program, "not-counted")
    assert program.get("/links/counted/hits").json() == {"hits": 0}
    for _ in range(4):
        program.together([("GET", "/go/counted")] * 12)
    assert program.get("/links/counted/hits").json() == {"hits": 48}
    assert program.get("/links/not-counted/hits").json() == {"hits": 0}


def test_lists_links_in_pages(program):
    program.restart(fresh=True)
    assert program.get("/links").json() == {"links": [], "next": None}
    codes = ["b-2", "a10", "a-1", "zzz", "a1x", "0-0"]
    for code in codes:
        make(program, code)
    codes.sort()
    found, after = [], None
    for size in (2, 2, 2):
        page = program.get(f"/links?limit={size}" + (f"&after={after}" if after else "")).json()
        found += [link["code"] for link in page["links"]]
        after = page["next"]
    assert found == codes
    assert after is None
    page = program.get("/links?after=a1&limit=100").json()
    assert [link["code"] for link in page["links"]] == ["a10", "a1x", "b-2", "zzz"]
    assert page["links"][0] == {"code": "a10", "url": "https://example.org/", "title": ""}
    assert page["next"] is None
    for number in range(20):
        make(program, f"more-{number:02}")
    page = program.get("/links").json()
    assert len(page["links"]) == 20
    assert page["next"] == page["links"][-1]["code"]


def test_refuses_invalid_limits(program):
    assert program.get("/links?limit=1").status == 200
    for limit in ("0", "101", "-1", "x", "1.5", ""):
        assert program.get(f"/links?limit={limit}").status == 400, limit


def test_keeps_links_over_a_restart(program):
    program.restart(fresh=True)
    make(program, "stays", "https://example.org/1")
    make(program, "goes")
    changed = program.put(
        "/links/stays", json={"url": "https://example.org/2", "title": "žluť"}, headers={"If-Match": "*"}
    )
    program.delete("/links/goes")
    program.restart()
    reply = program.get("/links/stays")
    assert reply.json() == {"code": "stays", "url": "https://example.org/2", "title": "žluť"}
    assert reply.headers["ETag"] == changed.headers["ETag"]
    assert program.get("/links/goes").status == 404
    again = program.put("/links/stays", json={"url": "https://example.org/3"}, headers={"If-Match": "*"})
    assert again.headers["ETag"] != reply.headers["ETag"]


def test_answers_head(program):
    made = program.post("/links", json={"url": "https://example.org/"})
    path = made.headers["Location"]
    reply = program.head(path)
    assert (reply.status, reply.body) == (200, b"")
    assert reply.headers["ETag"] == made.headers["ETag"]
    assert program.head("/links/no-such-link").status == 404
