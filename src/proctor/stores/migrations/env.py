"""Run by Alembic: applies the migrations to the connection that `stores.upgrade` hands over."""

from alembic import context

from proctor.stores.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
