"""The order of passages."""

from voice_agent.library.ranking import Candidate, Query, match_expression, rank

QUERY = Query(
    {"boiler": 2.0, "pressur": 2.0, "cold": 1.0},
    {term: (term, 1.0) for term in ("boiler", "pressur", "cold")},
)


def best(*bodies: str, titles: tuple[str, ...] = ("", "")) -> int:
    candidates = [
        Candidate(n, title.split(), [], body.split())
        for n, (body, title) in enumerate(zip(bodies, titles, strict=True))
    ]
    return rank(QUERY, candidates)[0].candidate.passage_id


def test_more_of_the_question_beats_one_word_repeated() -> None:
    assert best("boiler boiler boiler boiler boiler", "boiler with pressur") == 1


def test_words_that_stand_together_win() -> None:
    assert best("pressur x x x x boiler", "x x boiler pressur x x") == 1


def test_title_counts() -> None:
    assert best("pressur a", "pressur b", titles=("bike", "boiler")) == 1


def test_coverage_is_the_share_of_the_question() -> None:
    (ranked,) = rank(QUERY, [Candidate(1, ["boiler"], ["pressur"], ["word"])])
    assert ranked.coverage == 0.8


def test_equal_passages_keep_their_order() -> None:
    assert best("boiler", "boiler") == 0


def test_syntax_of_the_search_language_is_quoted() -> None:
    assert match_expression(["a", 'NEAR("']) == '"a" OR "NEAR("""'
