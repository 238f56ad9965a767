"""A database on a PostgreSQL server: found, made, brought up to date and opened; what fails is one clear line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from proctor.domain.errors import StoreError, UserError
from proctor.stores.connection import POSTGRESQL, Connection, Cursor, Row
from proctor.stores.database import ROWS_AT_A_TIME, Database, NewerDatabaseError
from proctor.stores.score_rows import replace_score
from proctor.stores.statements import insert_statements
from proctor.stores.unstorable import UNENCODABLE
from proctor.stores.upgrade import HEAD, is_version, upgrade_connection

try:
    import psycopg
    import sqlalchemy
    from sqlalchemy import Engine
    from sqlalchemy.engine import URL, make_url
    from sqlalchemy.exc import ArgumentError, DBAPIError

    from proctor.stores.postgresql_faults import in_words
    from proctor.stores.replica import Replica
except ModuleNotFoundError as missing:
    raise UserError(
        f"A PostgreSQL database needs the package {missing.name}: pip install 'proctor[postgresql]'."
    ) from missing

if TYPE_CHECKING:
    from psycopg.rows import RowMaker
    from sqlalchemy import PoolProxiedConnection

POOL = {"pool_size": 10, "pool_timeout": 30, "pool_recycle": 1800}
"""What the address may say of the pool, and what holds otherwise: connections, and seconds."""
CONNECT_SECONDS = 10
PARTITIONED = ("responses", "bodies", "scores")
EVERY_PROJECT = "*"
"""What no project is called: the setting of a connection that may see all of them."""
_SEES = "proctor.project"
UPGRADE_LOCK = 0x50726F63746F72
"""The advisory lock of whoever changes the schema."""
FEW_ROWS = 4
"""Up to here an INSERT is quicker than a COPY and what follows it."""
_IDLE_LIMIT = b"SET LOCAL idle_in_transaction_session_timeout = '10s'"
_SHORT_LIMITS = _IDLE_LIMIT + b"; SET LOCAL transaction_timeout = '20s'"
"""Both are shorter than a lease. From version 17 on the server also ends a transaction that hangs in a COPY."""
_WORD = re.compile(r"\?|%")


class PostgresRow(tuple[Any, ...]):
    """A row whose columns have names, as SQLite's have."""

    __slots__ = ()
    _places: dict[str, int] = {}  # noqa: RUF012 - each kind of row has its own class

    def __getitem__(self, column: Any) -> Any:
        return tuple.__getitem__(self, self._places[column] if isinstance(column, str) else column)

    def keys(self) -> Sequence[str]:
        return tuple(self._places)


@lru_cache(maxsize=256)
def _row_class(names: tuple[str, ...]) -> type[PostgresRow]:
    places = {name: place for place, name in reversed(list(enumerate(names)))}
    return type("Row", (PostgresRow,), {"__slots__": (), "_places": {name: places[name] for name in names}})


def _named_rows(cursor: psycopg.Cursor[Any]) -> RowMaker[PostgresRow]:
    names = tuple(column.name for column in cursor.description or ())
    return _row_class(names)


@lru_cache(maxsize=1_000)
def _translated(statement: str) -> bytes:
    return _WORD.sub(lambda found: "%s" if found[0] == "?" else "%%", statement).encode()


class PostgresConnection:
    """Implements Connection on one of the pool's connections, which goes back there when it is closed."""

    def __init__(self, pooled: PoolProxiedConnection) -> None:
        self._pooled, self._driver = pooled, _driver_of(pooled)
        self._driver.autocommit = True
        self._stages: set[str] = set()
        """Tables that rows were copied for in this transaction."""

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Cursor:
        cursor = self._driver.cursor(row_factory=_named_rows)
        found: Cursor = cursor.execute(_translated(statement), parameters)
        return found

    def stream(self, statement: str, parameters: Sequence[Any] = ()) -> Iterator[Row]:
        # Only a cursor with a name, which lives as long as a transaction, leaves the rows on the server.
        with self._driver.transaction(), self._driver.cursor("rows", row_factory=_named_rows) as cursor:
            cursor.itersize = ROWS_AT_A_TIME
            yield from cursor.execute(_translated(statement), parameters)

    def insert(
        self, table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], on_conflict: str = ""
    ) -> None:
        """COPY into a temporary table and insert from there: COPY itself knows no conflicts."""
        if len(rows) <= FEW_ROWS:
            for statement, parameters in insert_statements(table, columns, rows, on_conflict):
                self.execute(statement, parameters)
            return
        named = ", ".join(columns)
        with self._driver.cursor() as cursor:
            if table in self._stages:
                # Rows that are deleted stay until the transaction ends, and every insert would read all of them again.
                cursor.execute(f"TRUNCATE new_{table}".encode())
            else:
                cursor.execute(
                    f"CREATE TEMPORARY TABLE IF NOT EXISTS new_{table} (LIKE {table} INCLUDING DEFAULTS) "
                    "ON COMMIT DELETE ROWS".encode()
                )
                self._stages.add(table)
            with cursor.copy(f"COPY new_{table} ({named}) FROM STDIN".encode()) as copy:
                for row in rows:
                    copy.write_row(row)
            cursor.execute(
                f"INSERT INTO {table} ({named}) SELECT {named} FROM new_{table} {on_conflict}".encode()  # noqa: S608
            )

    @contextmanager
    def transaction(self, *, is_short: bool = False) -> Iterator[None]:
        self._stages.clear()
        with self._driver.transaction():
            if is_short:
                # A process that is stopped keeps its locks otherwise, for as long as it is.
                self._driver.execute(_SHORT_LIMITS if self._driver.info.server_version >= 170_000 else _IDLE_LIMIT)
            yield

    def close(self) -> None:
        """Give it back to the pool; closing it twice is harmless."""
        if not self._pooled.is_valid:
            return
        if self._driver.closed or self._driver.broken:
            self._pooled.invalidate()
        else:
            self._driver.autocommit = False
            self._pooled.close()


class _Pools:
    """What the handles of all scopes share."""

    primary: Engine | None = None
    replica: Replica | None = None


class PostgresDatabase(Database):
    dialect = POSTGRESQL
    unstorable = (*UNENCODABLE, psycopg.DataError)
    replace_score = replace_score("response_id, scorer, version, month")

    def __init__(self, url: URL, pool: dict[str, float], read_url: URL | None = None) -> None:
        self._url, self._pool, self._read_url = url, pool, read_url
        self._pools = _Pools()

    @property
    def label(self) -> str:
        return _label(self._url)

    @property
    def primary(self) -> Engine:
        if self._pools.primary is None:
            self._pools.primary = _engine(self._url, self._pool)
        return self._pools.primary

    @property
    def engine(self) -> Engine:
        return self.primary

    @property
    def replica(self) -> Replica | None:
        if self._pools.replica is None and self._read_url is not None:
            self._pools.replica = Replica(lambda: self.primary, _engine(self._read_url, self._pool))
        return self._pools.replica

    def connect(self) -> PostgresConnection:
        return self._plain(self.primary.raw_connection())

    def borrow(self, *, is_reading: bool = False) -> AbstractContextManager[Connection]:
        """What only reads is asked of the replica, where that has all that was committed by now."""
        found = None
        if is_reading and self.replica is not None:
            found = self.replica.connect(Engine.raw_connection, _driver_of)
        return closing(self._plain(found or self.primary.raw_connection()))

    def _plain(self, pooled: PoolProxiedConnection) -> PostgresConnection:
        try:
            self._narrow(pooled)
            return PostgresConnection(pooled)
        except BaseException:
            pooled.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[sqlalchemy.Connection]:
        with self.explained():
            found = None
            if self.replica is not None:
                found = self.replica.connect(Engine.connect, lambda opened: _driver_of(opened.connection))
            with found or self.primary.connect() as connection:
                self._narrow(connection.connection)
                yield connection

    def _narrow(self, pooled: PoolProxiedConnection) -> None:
        """Tell the server which rows this handle may see; what the pool's connection was used for last may differ."""
        wanted = self._scope.project or EVERY_PROJECT
        if pooled.info.get(_SEES) != wanted:
            driver = _driver_of(pooled)
            pooled.info.pop(_SEES, None)
            driver.autocommit = True  # or the next rollback would take it back
            driver.execute("SELECT set_config('proctor.project', %s, false)", [wanted])
            driver.autocommit = False
            pooled.info[_SEES] = wanted

    def dispose(self) -> None:
        replica = None if self._pools.replica is None else self._pools.replica.engine
        for engine in (self._pools.primary, replica):
            if engine is not None:
                engine.dispose()

    @contextmanager
    def explained(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise in_words(self.label, error) from error
        except sqlalchemy.exc.TimeoutError as error:
            size, seconds = self._pool["pool_size"], self._pool["pool_timeout"]
            raise StoreError(
                f"All {size:g} connections to {self.label} have been in use for {seconds:g} s. "
                "Try again, or allow more with ?pool_size=… in PROCTOR_DATABASE_URL."
            ) from error
        except DBAPIError as error:
            if not isinstance(error.orig, psycopg.Error):
                raise
            raise in_words(self.label, error.orig) from error

    def prepare_month(self, connection: Connection, month: int) -> None:
        """A partition of each table that grows with the answers, so that old months can be dropped at once."""
        found = connection.execute("SELECT to_regclass(?)", [f"responses_{month}"]).fetchone()
        if found[0] is not None:
            return
        connection.execute("SELECT pg_advisory_xact_lock(?)", [UPGRADE_LOCK])
        for table in PARTITIONED:
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {table}_{month} PARTITION OF {table} FOR VALUES IN ({month:d})"
            )
            # Rows are seen through the table that it is a part of, whose policy says which; by itself it shows none.
            connection.execute(f"ALTER TABLE {table}_{month} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")

    def open(self) -> None:
        """Make the tables where there are none; an older schema is not changed without being asked."""
        version = self.version()
        if version is None:
            self.upgrade()
        elif version > HEAD:
            raise NewerDatabaseError(self.label, version)
        elif version < HEAD:
            raise UserError(
                f"{self.label} has schema {version}; this version of Proctor needs {HEAD}. Make a backup, stop other "
                "processes that use it, and run 'proctor db upgrade'."
            )

    def is_current(self) -> bool:
        return self.version() == HEAD

    def backup(self) -> None:
        """None is made: a server has its own."""

    def check(self) -> str | None:
        """A server checks its own pages; that it answers and may be written to is what there is to see."""
        with self.explained(), self.primary.connect() as connection:
            is_standby = connection.execute(sqlalchemy.text("SELECT pg_is_in_recovery()")).scalar_one()
        return "it is a replica, which cannot be written to" if is_standby else None

    def size_bytes(self) -> int:
        with self.reading() as connection:
            query = sqlalchemy.text("SELECT pg_database_size(current_database())")
            return int(connection.execute(query).scalar_one())

    def version(self) -> str | None:
        with self.explained(), self.primary.connect() as connection:
            return _version(connection, self.label)

    def upgrade(self) -> None:
        """Bring the schema to this version; of several processes that do it at once, one does and the others wait."""
        with self.explained(), self.primary.connect() as connection, connection.begin():
            connection.execute(sqlalchemy.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": UPGRADE_LOCK})
            connection.execute(sqlalchemy.text("SELECT set_config('proctor.project', '*', true)"))
            if _version(connection, self.label) != HEAD:
                upgrade_connection(connection)

    def migrate(self, to: str) -> None:
        with self.explained(), self.primary.connect() as connection, connection.begin():
            connection.execute(sqlalchemy.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": UPGRADE_LOCK})
            connection.execute(sqlalchemy.text("SELECT set_config('proctor.project', '*', true)"))
            upgrade_connection(connection, to)

    @contextmanager
    def snapshot(self) -> Iterator[sqlalchemy.Connection]:
        with self.explained(), self.primary.connect() as opened:
            connection = opened.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                # Every policy lets this through: nothing is left out. It is also the moment that is seen.
                connection.exec_driver_sql("SELECT set_config('proctor.project', '*', true)")
                yield connection

    def is_second_wall(self) -> bool:
        """Whether row-level security holds: the server lets superusers and some others pass it."""
        query = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
        with self.explained(), self.primary.connect() as connection:
            return not connection.execute(sqlalchemy.text(query)).scalar_one()


def _engine(url: URL, pool: dict[str, float]) -> Engine:
    return sqlalchemy.create_engine(
        url,
        pool_size=int(pool["pool_size"]),
        max_overflow=0,
        pool_timeout=pool["pool_timeout"],
        pool_recycle=pool["pool_recycle"],
        pool_pre_ping=True,
    )


def _driver_of(pooled: PoolProxiedConnection) -> psycopg.Connection[Any]:
    driver = pooled.driver_connection
    assert isinstance(driver, psycopg.Connection)  # noqa: S101 - the dialect in the address says so
    return driver


def _version(connection: sqlalchemy.Connection, label: str) -> str | None:
    query = sqlalchemy.text("SELECT to_regclass('alembic_version') IS NOT NULL, to_regclass('runs') IS NOT NULL")
    is_ours, has_runs = connection.execute(query).one()
    version: str | None = None
    if is_ours:
        version = connection.execute(sqlalchemy.text("SELECT version_num FROM alembic_version")).scalar()
        if version is None or is_version(version):
            return version
    if has_runs or version is not None:
        raise UserError(f"{label} has tables of another program; Proctor does not touch it.")
    return None


def locate_server(url: str, read_url: str | None = None) -> PostgresDatabase:
    address, pool = _parse(url, "PROCTOR_DATABASE_URL")
    replica = None if read_url is None else _parse(read_url, "PROCTOR_DATABASE_READ_URL")[0]
    return PostgresDatabase(address, pool, replica)


def _parse(url: str, variable: str) -> tuple[URL, dict[str, float]]:
    try:
        found = make_url(url.replace("postgres://", "postgresql://", 1)).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError):
        raise UserError(f"{variable} is postgresql://USER:PASSWORD@HOST:PORT/NAME, with options after '?'.") from None
    if not found.database:
        raise UserError(f"{variable} names no database: postgresql://USER@HOST/NAME.")
    pool: dict[str, float] = dict(POOL)
    for name in POOL:
        if name in found.query:
            try:
                pool[name] = float(str(found.query[name]))
            except ValueError:
                raise UserError(f"{name} in {variable} is a number.") from None
    if pool["pool_size"] < 5:
        raise UserError(f"pool_size in {variable} is at least 5: a run writes, reads and renews its lease at once.")
    found = found.difference_update_query(list(POOL))
    if "connect_timeout" not in found.query:
        found = found.update_query_dict({"connect_timeout": str(CONNECT_SECONDS)})
    return found.update_query_dict({"application_name": "proctor"}), pool


def _label(url: URL) -> str:
    port = f":{url.port}" if url.port else ""
    return f"postgresql://{url.host or 'localhost'}{port}/{url.database}"
