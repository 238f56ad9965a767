import json

TEXT = """\
name = "web"                  # a setting: key, equals sign, value
ports = [ 8080, 8_081, ]      # a list; a comma after its last value is allowed
server "main" {               # a block with a label
  debug = false
  limits { connections = 100 }   # a block without one, inside the other
}
"""


def test_prints_json(program):
    done = program.run("json", stdin=TEXT)
    assert done.code == 0
    assert json.loads(done.out) == {
        "name": "web",
        "ports": [8080, 8081],
        "server": {"main": {"debug": False, "limits": {"connections": 100}}},
    }


def test_formats_settings(program):
    done = program.run("fmt", stdin='a=1 b   =\n\t"x"\r\nc-2_d =true')
    assert (done.code, done.out) == (0, 'a = 1\nb = "x"\nc-2_d = true\n')


def test_the_canonical_form_stays(program):
    canonical = (
        'name = "web"  # a setting: key, equals sign, value\n'
        "ports = [8080, 8081]\n"
        "\n"
        'server "main" {\n'
        "  # a block with a label\n"
        "  debug = false\n"
        "\n"
        "  limits {\n"
        "    connections = 100\n"
        "  }\n"
        "}\n"
    )
    done = program.run("fmt", stdin=canonical)
    assert (done.code, done.out) == (0, canonical)


def test_reports_an_unexpected_token(program):
    done = program.run("fmt", stdin="a = 1\nb = = 2\n")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("2:5: ")
