"""The tables of the schema, by what they are about; `stores.schema` is the whole of it."""
