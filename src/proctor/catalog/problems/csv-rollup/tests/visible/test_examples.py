SALES = """\
date,customer,amount
2024-03-01,"Miller, Ann",10.50
2024-03-02,Bo,3
2024-03-02,"Miller, Ann",-0.25
"""


def test_rolls_up_a_table(program):
    done = program.run("--by", "date", "--sum", "amount", stdin=SALES)
    assert done.code == 0
    assert [line.replace('"', "") for line in done.out.splitlines()] == [
        "date,count,sum,min,max",
        "2024-03-01,1,10.5,10.5,10.5",
        "2024-03-02,2,2.75,-0.25,3",
    ]


def test_reads_quoted_fields(program):
    done = program.run("--by", "customer", "--sum", "amount", stdin=SALES)
    assert done.code == 0
    assert done.out.splitlines()[1].startswith('"Miller, Ann",')


def test_names_a_missing_column(program):
    for by, total in (("client", "amount"), ("date", "client")):
        done = program.run("--by", by, "--sum", total, stdin=SALES)
        assert (done.code, done.out) == (2, "")
        assert "client" in done.err
