from pocketknife.chunks import chunks


def test_last_chunk_is_shorter():
    assert chunks([1, 2, 3], 2) == [[1, 2], [3]]
