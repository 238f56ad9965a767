def make(program, **members):
    reply = program.post("/links", json={"url": "https://example.org/", **members})
    assert reply.status == 201, reply.text
    return reply.headers["Location"], reply.headers["ETag"]


def put(program, path, tag, **members):
    headers = {} if tag is None else {"If-Match": tag}
    return program.put(path, json={"url": "https://example.org/", **members}, headers=headers)


def test_refuses_a_taken_code(program):
    path, _ = make(program, code="taken-code", title="first")
    reply = program.post("/links", json={"url": "https://example.org/2", "code": "taken-code"})
    assert reply.status == 409
    assert program.get(path).json()["title"] == "first"


def test_a_code_is_given_to_one_of_many(program):
    body = {"url": "https://example.org/", "code": "wanted-by-many"}
    replies = program.together([("POST", "/links", {"json": {**body, "title": str(n)}}) for n in range(12)])
    assert sorted(reply.status for reply in replies) == [201] + [409] * 11
    [winner] = [reply for reply in replies if reply.status == 201]
    assert program.get("/links/wanted-by-many").json() == winner.json()


def test_the_tag_stays_while_nothing_changes(program):
    path, tag = make(program)
    make(program)
    program.get("/go/" + path.split("/")[2])
    assert program.get(path).headers["ETag"] == program.get(path).headers["ETag"] == tag
    assert put(program, path, tag, url="nowhere").status == 422
    assert program.get(path).headers["ETag"] == tag


def test_every_change_gives_a_new_tag(program):
    path, tag = make(program)
    tags = [tag]
    for members in ({"title": "a"}, {"title": "b"}, {"title": "a"}, {"url": "https://example.org/x", "title": "a"}):
        reply = put(program, path, "*", **members)
        assert reply.status == 200
        assert reply.headers["ETag"] == program.get(path).headers["ETag"]
        tags.append(reply.headers["ETag"])
    assert len(set(tags)) == 5
    assert all(tag[0] == tag[-1] == '"' and '"' not in tag[1:-1] and len(tag) > 2 for tag in tags)


def test_answers_not_modified(program):
    path, tag = make(program)
    reply = program.get(path, headers={"If-None-Match": tag})
    assert (reply.status, reply.body) == (304, b"")
    assert reply.headers["ETag"] == tag
    assert program.get(path, headers={"If-None-Match": '"other"'}).status == 200
    put(program, path, "*", url="https://example.org/changed")
    assert program.get(path, headers={"If-None-Match": tag}).json()["url"] == "https://example.org/changed"


def test_understands_lists_of_tags(program):
    path, tag = make(program)
    for value in (f'"x", {tag}', f'{tag},"y"', f'"x" , {tag} , "y"', "*"):
        assert program.get(path, headers={"If-None-Match": value}).status == 304, value
    assert program.get(path, headers={"If-None-Match": '"x", "y"'}).status == 200


def test_wants_a_condition(program):
    path, _ = make(program, title="kept")
    reply = put(program, path, None, title="lost")
    assert reply.status == 428
    assert program.get(path).json()["title"] == "kept"


def test_refuses_an_old_version(program):
    path, old = make(program)
    put(program, path, "*", url="https://example.org/2")
    assert put(program, path, old, url="https://example.org/3").status == 412
    assert program.delete(path, headers={"If-Match": old}).status == 412
    assert program.get(path).json()["url"] == "https://example.org/2"
    assert put(program, path, f'{old}, "x"', url="https://example.org/3").status == 412
    assert put(program, path, program.get(path).headers["ETag"], url="https://example.org/4").status == 200


def test_one_of_many_editors_wins(program):
    for _ in range(3):
        path, tag = make(program)
        edits = [{"json": {"url": f"https://example.org/{n}"}, "headers": {"If-Match": tag}} for n in range(12)]
        replies = program.together([("PUT", path, edit) for edit in edits])
        assert sorted(reply.status for reply in replies) == [200] + [412] * 11
        [winner] = [reply for reply in replies if reply.status == 200]
        assert program.get(path).json() == winner.json()


def test_deletes_a_link(program):
    path, tag = make(program, code="to-be-deleted")
    reply = program.delete(path, headers={"If-Match": tag})
    assert (reply.status, reply.body) == (204, b"")
    for gone in (path, path + "/hits", "/go/to-be-deleted"):
        assert program.get(gone).status == 404, gone
    assert program.delete(path).status == 404
    path, _ = make(program, code="to-be-deleted")
    assert program.delete(path).status == 204
