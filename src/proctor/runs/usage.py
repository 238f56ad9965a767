"""What was used: by day, project, user and model, with what the operator's own machines cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from proctor.domain.documents.usage import StoredBytes, UsageItem, UsagePrices, UsageReport
from proctor.domain.errors import UserError
from proctor.runs.playground.showing import Reader
from proctor.stores.ask_usage import read_ask_usage
from proctor.stores.database import Database
from proctor.stores.stored_bytes import read_stored_bytes
from proctor.stores.usage import Dimension, Key, UsageRow, read_usage, read_worker_time

EPOCH = date(1970, 1, 1)
USUAL_DAYS = 30
MAX_DAYS = 3_660
GB = 1e9
OPERATOR = Reader("local", may_vote=True)
"""The person at the machine, who votes under this name on a server without accounts."""


def report_usage(
    database: Database,
    by: Sequence[Dimension] = ("day",),
    since: date | None = None,
    until: date | None = None,
    prices: UsagePrices | None = None,
    reader: Reader = OPERATOR,
) -> UsageReport:
    """From `since` to `until`, both counted; the last 30 days if nothing is said. Raises UserError for a wrong span.

    What a blind ask used is told without its models until the reader may know who is who.
    """
    prices = prices or UsagePrices(None, None)
    until = until or datetime.now(UTC).date()
    since = since or until - timedelta(days=USUAL_DAYS - 1)
    first, after = (since - EPOCH).days, (until - EPOCH).days + 1
    if first >= after:
        raise UserError(f"The first day, {since}, is after the last, {until}.")
    if after - first > MAX_DAYS:
        raise UserError(f"{since} to {until} is {after - first:,} days; usage is of {MAX_DAYS:,} days at most.")
    by = tuple(dict.fromkeys(by))
    rows = {row.key: row for row in read_usage(database, by, first, after)}
    for row in read_ask_usage(database, by, first, after, voter=reader.name, may_vote=reader.may_vote):
        rows[row.key] = rows[row.key] + row if row.key in rows else row
    times = None if "model" in by else read_worker_time(database, by, first, after)
    keys = sorted({*rows, *(times or {})}, key=lambda key: [(part is None, part) for part in key])
    items = [_item(by, key, rows.get(key), times, prices) for key in keys]
    stored = read_stored_bytes(database)
    storage = [StoredBytes(name, size, _monthly(size, prices)) for name, size in sorted(stored.items())]
    return UsageReport(since, until, by, items, storage, prices)


def _item(
    by: Sequence[Dimension], key: Key, row: UsageRow | None, times: dict[Key, float] | None, prices: UsagePrices
) -> UsageItem:
    named = dict(zip(by, key, strict=True))
    day, seconds = named.get("day"), None if times is None else times.get(key, 0.0)
    hour = prices.worker_hour_usd
    return UsageItem(
        day=None if day is None else EPOCH + timedelta(days=int(day)),
        project=_text(named.get("project")),
        user=_text(named.get("user")),
        model=_text(named.get("model")),
        runs=row.runs if row else 0,
        asks=row.asks if row else 0,
        answers=row.answers if row else 0,
        cached=row.cached if row else 0,
        failed=row.failed if row else 0,
        input_tokens=row.input_tokens if row else 0,
        output_tokens=row.output_tokens if row else 0,
        cost_usd=float(row.cost_usd) if row else 0.0,
        unpriced=row.unpriced if row else 0,
        worker_seconds=None if seconds is None else round(seconds, 3),
        workers_usd=None if seconds is None or hour is None else round(seconds / 3_600 * hour, 6),
    )


def _text(value: str | int | None) -> str | None:
    return None if value is None else str(value)


def _monthly(size: int, prices: UsagePrices) -> float | None:
    price = prices.storage_gb_month_usd
    return None if price is None else round(size / GB * price, 6)
