"""A few thousand tokens minted, narrowed and verified."""

SECRET = b"0123456789abcdef"


def work(program):
    authority = program.module.Authority({"k": SECRET})
    for number in range(600):
        token = authority.mint("k", f"user{number}", ["path under /docs", "time < 5000"])
        for caveat in ("method in GET,HEAD", "size <= 100"):
            token = program.module.attenuate(token, caveat)
        authority.verify(token, {"path": "/docs/a", "time": number, "method": "GET", "size": 1})
