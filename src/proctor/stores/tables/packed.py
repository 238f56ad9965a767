"""What is packed of finished evaluations so that many results are read quickly: all of it can be made again."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    Table,
    Text,
)

from proctor.stores.tables.metadata import DERIVED, metadata

packings = Table(
    "packings",
    metadata,
    Column(
        "evaluation_id",
        ForeignKey("evaluations.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("kind", Text, primary_key=True),
    # Which rows of `packed_columns` or `packed_words` are its own.
    Column("generation", BigInteger, nullable=False),
    # Of how things are packed.
    Column("revision", Text, nullable=False),
    # The run's when it was packed, and the scorer versions in force.
    Column("fence", BigInteger, nullable=False),
    Column("scorers", Text, nullable=False),
    Column("results", BigInteger, nullable=False),
    Column("detail", Text, nullable=False),
    Column("is_complete", Boolean, nullable=False),
    # Until then a process is packing it.
    Column("claimed_until", Float, nullable=False),
    CheckConstraint("kind IN ('columns', 'words')", name="kind"),
    sqlite_with_rowid=False,
    info=DERIVED,
)

# What filters ask of results, a column of a segment of them in one value.
packed_columns = Table(
    "packed_columns",
    metadata,
    Column(
        "evaluation_id",
        ForeignKey("evaluations.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("generation", BigInteger, primary_key=True, autoincrement=False),
    Column("segment", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    info=DERIVED,
)

# In which results of a segment a word occurs.
packed_words = Table(
    "packed_words",
    metadata,
    Column(
        "evaluation_id",
        ForeignKey("evaluations.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("generation", BigInteger, primary_key=True, autoincrement=False),
    Column("segment", Integer, primary_key=True, autoincrement=False),
    # 0 for the prompt, 1 for the answer.
    Column("field", Integer, primary_key=True, autoincrement=False),
    Column("word", Text, primary_key=True),
    # A word's places may be in several rows.
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("places", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
    info=DERIVED,
)
