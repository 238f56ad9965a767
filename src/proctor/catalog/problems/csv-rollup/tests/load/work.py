"""A table of 120,000 records with quoted names and notes of two lines."""


def work(program) -> None:
    rows = ['date,customer,note,amount']
    for n in range(120_000):
        note = '"first\nsecond ""line"""' if n % 4 == 0 else "plain"
        rows.append(f'2024-03-{n % 28 + 1:02},"Customer, {n * 7919 % 5003}",{note},{n % 1000}.{n % 97:02}')
    done = program.run("--by", "customer", "--sum", "amount", "--sort", stdin="\r\n".join(rows), timeout=60)
    assert done.code == 0, done.err
    assert done.out.count("\n") == 5004
