from hypothesis import Phase, given, settings
from hypothesis import strategies as st

visible = st.characters(min_codepoint=0x21, max_codepoint=0x7E)
urls = st.builds(
    "{}{}/{}".format, st.sampled_from(["http://", "https://"]), st.sampled_from(["a", "example.org", "[::1]:80"]), st.text(visible, max_size=40)
)
titles = st.text(st.characters(exclude_categories=("Cs",)), max_size=50)


@settings(max_examples=30, phases=[Phase.generate])
@given(urls, titles)
def test_any_valid_link_is_kept_as_it_is(program, url, title):
    made = program.post("/links", json={"url": url, "title": title})
    assert made.status == 201, made.text
    found = program.get(made.headers["Location"]).json()
    assert (found["url"], found["title"]) == (url, title)
    assert found["code"] == made.json()["code"]
