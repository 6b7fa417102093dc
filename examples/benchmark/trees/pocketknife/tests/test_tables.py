from pocketknife.tables import align


def test_columns_have_one_width():
    assert align([["a", "b"], ["ccc", "d"]]) == ["a    b", "ccc  d"]
