"""Pages of lists: by key, so that what is added meanwhile moves nothing."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.requests import Request


def next_link(request: Request, after: str | None) -> dict[str, str]:
    """The header that names the next page; empty on the last one."""
    if after is None:
        return {}
    others = [(name, value) for name, value in request.query_params.multi_items() if name != "after"]
    return {"Link": f'<{request.url.path}?{urlencode([*others, ("after", after)])}>; rel="next"'}
