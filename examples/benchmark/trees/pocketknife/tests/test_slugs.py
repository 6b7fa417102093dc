from pocketknife.slugs import slugify


def test_words_are_joined():
    assert slugify("Hello World") == "hello-world"
