from pocketknife.memo import memoise


def test_result_is_kept():
    calls = []

    @memoise
    def double(n):
        calls.append(n)
        return 2 * n

    assert [double(2), double(2)] == [4, 4]
    assert calls == [2]
