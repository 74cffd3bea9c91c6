"""The candidates of a kernel, and the choice among them."""

from tilewright.schedule.candidates import Candidate, Scored, candidates_of, choose
from tilewright.schedule.limits import FEWER_STAGES_MARGIN, MARGIN


def test_a_kernel_without_a_choice_has_one_candidate() -> None:
    assert candidates_of([4]) == [Candidate(4)]


def test_fewer_stages_come_after_most_and_have_to_gain_more() -> None:
    """They trust an estimate of registers; a producer and blocks that share an SM do not."""
    every = candidates_of([6, 4], coresident=3, by_tma=5, prefers_tma=True)
    assert [(each.stages, each.blocks) for each in every] == [(5, 1), (3, 2), (6, 1), (4, 1)]
    assert [each.margin for each in every] == [MARGIN, MARGIN, MARGIN, FEWER_STAGES_MARGIN]
    assert FEWER_STAGES_MARGIN > MARGIN


def test_a_producer_is_last_unless_it_is_preferred() -> None:
    assert [each.by_tma for each in candidates_of([4], by_tma=5)] == [False, True]


def scored(*clocks: float) -> list[Scored]:
    return [Scored(Candidate(number), each) for number, each in enumerate(clocks)]


def test_the_first_candidate_is_chosen_within_the_margin() -> None:
    inside, outside = 100 * (1 + MARGIN / 2), 100 * (1 + 2 * MARGIN)
    assert choose(scored(inside, 100)).chosen.candidate == Candidate(0)
    assert choose(scored(outside, inside, 100)).chosen.candidate == Candidate(1)
    assert choose(scored(outside, 100)).chosen.candidate == Candidate(1)


def test_each_candidate_has_a_margin_of_its_own() -> None:
    first, fewer = Candidate(4), Candidate(3, margin=0.15)
    assert choose([Scored(first, 110), Scored(fewer, 100)]).chosen.candidate == first
    assert choose([Scored(first, 120), Scored(fewer, 100)]).chosen.candidate == fewer


def test_the_best_other_candidate_differs() -> None:
    choice = choose(scored(100, 100, 150, 120))
    assert choice.other == Scored(Candidate(3), 120)
    assert choice.reason == "copies by threads, 3 stages would take 1.20 of its clocks"


def test_no_other_candidate() -> None:
    assert choose(scored(100)).reason == "there is no other candidate"


def test_four_stages_need_no_margin_where_threads_wait_for_dots() -> None:
    fewer = candidates_of([6, 4, 3], waits_for_dots=True)[1:]
    assert [each.margin for each in fewer] == [0, FEWER_STAGES_MARGIN]
