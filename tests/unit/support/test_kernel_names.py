from __future__ import annotations

import subprocess

import pytest

from tilewright.support.demangle import demangled
from tilewright.support.diagnostics import InvalidValue
from tilewright.support.kernel_names import choose_kernel, spellings

# As nvcc mangles them; the spellings are those of the source.
ADD = "_Z9vectorAddPfS_S_m"  # vectorAdd(float*, float*, float*, unsigned long)
INT, FLOAT = "_Z4overPi", "_Z4overPf"
KERN = "_ZN3foo4kernIfLi4EEEvPT_"  # template <class T, int N> void foo::kern(T*)
OTHER = "_ZN3foo4kernIiLi8EEEvPT_"
HIDDEN = "_ZN12_GLOBAL__N_14anonEPf"
ALL = [ADD, INT, FLOAT, KERN, OTHER, HIDDEN, "plain"]


@pytest.mark.parametrize(
    ("asked", "symbol"),
    [
        (ADD, ADD),
        ("plain", "plain"),
        ("vectorAdd", ADD),
        ("vectorAdd(float*, float*, float*, unsigned long)", ADD),
        ("vectorAdd(float *,float *,float *,unsigned long)", ADD),
        ("over(int*)", INT),
        ("over(float*)", FLOAT),
        ("foo::kern<float, 4>", KERN),
        ("kern<int, 8>", OTHER),
        ("void foo::kern<int, 8>(int*)", OTHER),
        ("kern(int*)", OTHER),
        ("anon", HIDDEN),
        ("(anonymous namespace)::anon", HIDDEN),
    ],
)
def test_names_of_one_kernel(asked: str, symbol: str) -> None:
    assert choose_kernel(ALL, asked) == symbol


def test_several_kernels_are_listed() -> None:
    with pytest.raises(InvalidValue) as raised:
        choose_kernel(ALL, "over")
    assert str(raised.value) == (
        "expected the name of one kernel, found 'over'; it may be: "
        "'_Z4overPi' (over(int*)), '_Z4overPf' (over(float*))"
    )


def test_without_a_kernel_of_that_name_all_are_listed() -> None:
    with pytest.raises(InvalidValue) as raised:
        choose_kernel([INT, "plain"], "sub")
    assert str(raised.value) == (
        "expected 'sub'; its kernels are: '_Z4overPi' (over(int*)), 'plain'"
    )


def test_without_a_name() -> None:
    assert choose_kernel([INT], None) == INT
    with pytest.raises(InvalidValue, match="several kernels; its kernels are: 'a', 'b'"):
        choose_kernel(["a", "b"], None)


def test_spellings_of_text_that_is_no_function() -> None:
    for text in ("", ")", "((", "a<b", ">>", "f)", "operator()"):
        assert isinstance(spellings(text), set)


def doubling(times: int) -> str:
    """A name of ten bytes a parameter; the text of each is twice as long as the one before."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return "_Z1f1aIiiE" + "".join(f"S_IS{digit}_S{digit}_E" for digit in digits[:times])


def test_a_name_that_stands_for_too_much_text() -> None:
    """The process reaches its limits; the names before are answered."""
    short, long = doubling(3), doubling(35)
    assert demangled([INT, short, long]).keys() == {INT, short}


def test_text_that_is_too_long_to_show() -> None:
    assert demangled([doubling(10), INT]).keys() == {INT}


def test_nested_names_end_no_process() -> None:
    deep = "_Z1f" + "P" * 200_000 + "f"
    assert demangled([deep, INT]).get(deep, "") == ""


def test_names_are_a_line_each() -> None:
    assert demangled(["_Z4over\nPi", "_Z4over\0Pi", INT]) == {INT: "over(int*)"}


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*arguments: object, **options: object) -> object:
        return subprocess.CompletedProcess([], 1, b"")

    monkeypatch.setattr(subprocess, "run", nothing)
    assert choose_kernel([INT], INT) == INT
    with pytest.raises(InvalidValue, match="expected 'over'; its kernels are: '_Z4overPi'"):
        choose_kernel([INT], "over")
