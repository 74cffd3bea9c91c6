"""The candidates of a kernel, and the choice among them."""

from tilewright.schedule.candidates import (
    MOST_CANDIDATES,
    Candidate,
    Choices,
    candidates_of,
    stage_counts,
)
from tilewright.schedule.choose import MARGIN, Scored, choose
from tilewright.schedule.shared_memory import MOST_STAGES

KIB = 1024


def test_a_kernel_without_a_choice_has_one_candidate() -> None:
    assert candidates_of(Choices(by_threads=[4])) == [Candidate(4)]


def test_the_number_of_candidates_is_bounded() -> None:
    widest = stage_counts(MOST_STAGES, 64 * KIB)
    every = candidates_of(Choices(widest, [MOST_STAGES], [MOST_STAGES], prefers_tma=True))
    assert len(every) == len(set(every)) == 8 <= MOST_CANDIDATES
    assert every[:2] == [Candidate(8, by_tma=True), Candidate(8, blocks=2)]


def test_fewer_stages_keep_enough_bytes_in_flight() -> None:
    """36 KiB of all but one stage: three stages of 12 KiB are in flight beside the one in use."""
    assert stage_counts(6, 12 * KIB) == [6, 5, 4]
    assert stage_counts(6, 36 * KIB) == [6, 5, 4, 3]
    assert stage_counts(6, 4 * KIB) == [6]


def test_there_are_never_fewer_than_three_stages_by_choice() -> None:
    assert stage_counts(2, 64 * KIB) == [2]
    assert stage_counts(3, 64 * KIB) == [3]


def scored(*clocks: float) -> list[Scored]:
    return [Scored(Candidate(number), each) for number, each in enumerate(clocks)]


def test_the_first_candidate_is_chosen_within_the_margin() -> None:
    inside, outside = 100 * (1 + MARGIN / 2), 100 * (1 + 2 * MARGIN)
    assert choose(scored(inside, 100)).chosen.candidate == Candidate(0)
    assert choose(scored(outside, inside, 100)).chosen.candidate == Candidate(1)
    assert choose(scored(outside, 100)).chosen.candidate == Candidate(1)


def test_the_best_other_candidate_differs() -> None:
    choice = choose(scored(100, 100, 150, 120))
    assert choice.other == Scored(Candidate(3), 120)
    assert choice.reason == "copies by threads, 3 stages would take 1.20 of its clocks"


def test_no_other_candidate() -> None:
    assert choose(scored(100)).reason == "there is no other candidate"
