"""The Celery app, which carries ids of chunks and runs to workers: the database is the truth, the broker a notifier."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from billiard import pool as process_pool
from celery import Celery
from celery.signals import (
    beat_embedded_init,
    worker_process_init,
    worker_process_shutdown,
    worker_shutting_down,
)
from kombu import Queue

from proctor.domain.tracing import end_tracing
from proctor.telemetry.starting import count_worker, trace_process
from proctor.worker.notifier import SCHEDULED, STEPS, WorkerNotifier, queues_of
from proctor.worker.parent import EndingNews, die_with
from proctor.worker.schedule import SCHEDULE
from proctor.worker.tasks import register_tasks

if TYPE_CHECKING:
    from proctor.worker.child import Child, WorkerConfig

VISIBILITY_SECONDS = 120
"""A message that was taken and not done is delivered again after this; the sweeper is quicker."""
SOFT_SHUTDOWN_SECONDS = 15.0
CHILD_START_SECONDS = 120.0
CONNECT_SECONDS = 3.0
SILENT_SECONDS = 10.0
"""A broker that says nothing for so long, as one that stands still, is connected to anew."""
RECEIPT_TRIES = 20
"""How often, a tenth of a second apart, a child that ends looks whether its parent has heard of its last task.

A task that was on its way to the child when the parent was told to end is one that the parent has let go of: it never
hears of it, and by default the child waits half a minute for that.
"""
SETTINGS: dict[str, Any] = {
    "accept_content": ["json"],
    "beat_scheduler": "celery.beat:Scheduler",  # in memory: what is due is claimed in Redis
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,
    "broker_pool_limit": 4,
    "broker_transport_options": {
        "visibility_timeout": VISIBILITY_SECONDS,
        "unacked_restore_interval": 10,
        "unacked_restore_throttle": 1,
        "queue_order_strategy": "priority",
        "socket_connect_timeout": CONNECT_SECONDS,
        "socket_timeout": SILENT_SECONDS,
        "socket_keepalive": True,
        "health_check_interval": 5,
    },
    "result_serializer": "json",
    "task_acks_late": True,
    "task_default_queue": STEPS,
    "task_create_missing_queues": True,
    "task_ignore_result": True,
    "task_reject_on_worker_lost": True,
    "task_send_sent_event": True,
    "task_serializer": "json",
    "worker_consumer": "proctor.worker.consumer:PromptConsumer",
    "worker_disable_prefetch": True,
    "worker_hijack_root_logger": False,
    "worker_prefetch_multiplier": 1,
    "worker_proc_alive_timeout": CHILD_START_SECONDS,
    "worker_redirect_stdouts": False,
    "worker_send_task_events": True,  # Flower and `celery events` follow these
    "worker_soft_shutdown_timeout": SOFT_SHUTDOWN_SECONDS,
}


def make_app(broker_url: str) -> Celery:
    """An app that can notify workers; nothing is connected to yet."""
    app = Celery("proctor", broker=broker_url, set_as_current=False)
    app.conf.update(SETTINGS)
    app.conf.beat_schedule = {
        name: {"task": SCHEDULED, "args": (name,), "schedule": item.interval_seconds, "options": {"expires": 60}}
        for name, item in SCHEDULE.items()
    }
    return app


def make_worker_app(config: WorkerConfig, ending: EndingNews) -> Celery:
    """An app that also does what it is told, each child in an event loop of its own; they die with this process."""
    app = make_app(config.broker_url)
    app.conf.task_queues = [Queue(name) for name in queues_of(list(config.pools))]
    child: list[Child] = []
    register_tasks(app, child)
    parent = os.getpid()
    process_pool.GUARANTEE_MESSAGE_CONSUMPTION_RETRY_LIMIT = RECEIPT_TRIES

    def tell_children(**_: object) -> None:
        ending.tell()

    def open_beat(**_: object) -> None:
        die_with(parent)
        ending.let_go()

    def open_child(**_: object) -> None:
        from proctor.worker.child import Child

        die_with(parent)
        count_worker()
        trace_process(config.traces_url, "worker")  # its exporter's thread is not forked
        child.append(Child(config, WorkerNotifier(app), ending))
        child[0].start()

    def close_child(**_: object) -> None:
        if child:
            child[0].close()
        end_tracing()

    worker_shutting_down.connect(tell_children, weak=False)
    beat_embedded_init.connect(open_beat, weak=False)
    worker_process_init.connect(open_child, weak=False)
    worker_process_shutdown.connect(close_child, weak=False)
    return app
