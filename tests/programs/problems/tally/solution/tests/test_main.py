import main


def test_one_file(tmp_path, capsys):
    path = tmp_path / "x"
    path.write_text("a b c")
    assert main.main([str(path)]) == 0
    assert capsys.readouterr().out == "3\n"
