"""The application: routes, what guards them, and what is open while it lives."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp

from proctor.domain.measuring import listen, stop_listening
from proctor.server.access import refuse_unguarded
from proctor.server.headers import SecurityMiddleware
from proctor.server.measuring import MeasuredRequests
from proctor.server.problems import handle_problems
from proctor.server.routes import (
    accounts,
    auth,
    benchmark_drafts,
    budgets,
    catalogue,
    comments,
    comparing,
    drafts,
    events,
    files,
    metrics,
    older_names,
    own_benchmarks,
    plans,
    playground,
    programs,
    project_events,
    provider_keys,
    rescorings,
    results,
    review,
    runs,
    scorecards,
    single_sign_on,
    status,
    tokens,
    usage,
    webhooks,
)
from proctor.server.service import Service
from proctor.server.static import Dashboard

ROUTERS = (
    # What is asked for most comes first: routes are tried in this order.
    results.router,
    runs.router,
    status.router,
    rescorings.router,
    events.router,
    project_events.router,
    comparing.router,
    drafts.router,
    catalogue.router,
    programs.router,
    metrics.router,
    usage.router,
    plans.router,
    playground.router,
    comments.router,
    review.router,
    files.router,
    webhooks.router,
    own_benchmarks.router,
    benchmark_drafts.router,
    scorecards.router,
    auth.router,
    tokens.router,
    single_sign_on.router,
    accounts.router,
    provider_keys.router,
    budgets.router,
    older_names.router,
)


class Application(FastAPI):
    """The guard stands before everything, also before what answers when the server makes a mistake."""

    def build_middleware_stack(self) -> ASGIApp:
        service: Service = self.state.service
        checked = SecurityMiddleware(
            super().build_middleware_stack(), service.hosts, service.origin, service.settings.static_url
        )
        return MeasuredRequests(checked, service.metrics, service.settings.log_sample)


def create_app(service: Service) -> FastAPI:
    """The application of a service; raises RuntimeError for a route that needs no permission."""

    @asynccontextmanager
    async def alive(_: FastAPI) -> AsyncIterator[None]:
        await service.executor.start()
        listen(service.metrics.take)
        try:
            yield
        finally:
            stop_listening(service.metrics.take)
            await service.playground.close()
            await service.executor.close()
            service.database.dispose()

    app = Application(openapi_url=None, docs_url=None, redoc_url=None, lifespan=alive, redirect_slashes=False)
    app.state.service = service
    handle_problems(app)
    for router in ROUTERS:
        app.router.routes.extend(router.routes)
    dashboard = Dashboard(static_url=service.settings.static_url)
    app.router.routes.append(Route("/{path:path}", dashboard.answer, methods=["GET"], name="dashboard"))
    refuse_unguarded(app.routes)
    return app
