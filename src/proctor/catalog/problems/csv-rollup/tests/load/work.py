"""A table of 120,000 records with quoted names and notes of two lines; what is printed is compared as a whole."""

RECORDS = [(n * 7919 % 5003, n % 1000 * 100 + n % 97) for n in range(120_000)]


def table() -> str:
    rows = ["date,customer,note,amount"]
    for n, (customer, cents) in enumerate(RECORDS):
        note = '"first\nsecond ""line"""' if n % 4 == 0 else "plain"
        rows.append(f'2024-03-{n % 28 + 1:02},"Customer, {customer}",{note},{cents // 100}.{cents % 100:02}')
    return "\r\n".join(rows)


def amount(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}".rstrip("0").rstrip(".")


def expected() -> str:
    by: dict[int, list[int]] = {}
    for customer, cents in RECORDS:
        by.setdefault(customer, []).append(cents)
    rows = [
        f'"Customer, {customer}",{len(all_)},{amount(sum(all_))},{amount(min(all_))},{amount(max(all_))}\n'
        for customer, all_ in by.items()
    ]
    return "customer,count,sum,min,max\n" + "".join(rows)


TABLE, EXPECTED = table(), expected()


def work(program) -> None:
    done = program.run("--by", "customer", "--sum", "amount", stdin=TABLE, timeout=60)
    assert done.code == 0, done.err
    assert done.out == EXPECTED, "the sums are not as they should be"
