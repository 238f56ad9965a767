"""Some thousand decisions of a busy cache."""

DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
SECOND = 784111777


def work(program):
    freshness = program.module
    for number in range(1500):
        response = {"Date": DATE, "Cache-Control": f"public, max-age={number % 90}, x=\"{number}\"", "ETag": f'"{number}"'}
        request = {"Cache-Control": "max-stale=20, min-fresh=3", "Accept": "text/html"}
        freshness.decide(request, response, SECOND, SECOND + number % 120)
        freshness.may_store("GET", 200, request, response, True)
        freshness.key("GET", f"/{number}", "Accept", request)
