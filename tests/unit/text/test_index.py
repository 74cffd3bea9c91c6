"""The index of a text: definitions and uses of values, blocks, symbols and aliases."""

from __future__ import annotations

import re
from pathlib import Path

from each_case import each_case

from tilewright.driver.registry import context
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Sink
from tilewright.text.index import Index, index_text

ROOT = Path(__file__).parents[3]
PROGRAMS = [ROOT / "examples" / "gemm.mlir", *sorted((ROOT / "tests" / "programs").glob("*.mlir"))]


def index(text: str) -> Index:
    return index_text(text, context(), "k", "cuda_tile")[0]


def offsets(text: str) -> tuple[str, dict[str, int]]:
    """Remove marks such as `«a»` from a text, and return their offsets."""
    marks: dict[str, int] = {}
    parts = re.split(r"«(\w+)»", text)
    plain = ""
    for at, part in enumerate(parts):
        if at % 2:
            marks[part] = len(plain)
        else:
            plain += part
    return plain, marks


def check_names(text: str) -> Index:
    """Each mark `«a1»` is on a name that means the same as the definition marked `«a»`."""
    plain, marks = offsets(text)
    made = index(plain)
    tokens = {mark: made.token_at(offset) for mark, offset in marks.items()}
    definitions = {mark: token for mark, token in tokens.items() if mark.isalpha()}
    for mark, token in tokens.items():
        assert token is not None
        assert made.definition(token) == definitions[mark.rstrip("0123456789")], mark
    for mark, token in definitions.items():
        assert token is not None
        same = sorted(tokens[other] or 0 for other in tokens if other.rstrip("0123456789") == mark)
        assert made.references(token) == same, mark
    return made


def test_names_in_regions() -> None:
    """Loops reuse a name; arguments stand before the region whose scope has them."""
    check_names("""\
cuda_tile.module @m {
  entry @first(«n»%n: tile<i32>) {
    for «i»%i in («n1»%n to «n2»%n, step «n3»%n) : tile<i32> {
      «x»%x = addi «i1»%i, «n4»%n : tile<i32>
      %y = addi «x1»%x, «x2»%x : tile<i32>
      continue
    }
    for «j»%i in («n5»%n to «n6»%n, step «n7»%n) : tile<i32> {
      «z»%x = addi «j1»%i, «j2»%i : tile<i32>
      %y = addi «z1»%x, «z2»%x : tile<i32>
      continue
    }
    return
  }
  entry @second(«o»%n: tile<i32>) {
    %x = addi «o1»%n, «o2»%n : tile<i32>
    return
  }
}
""")


def test_several_results_have_one_name() -> None:
    made = check_names("""\
entry @f(%p: tile<i1>, %a: tile<f32>) {
  «r»%r:2 = if %p -> (tile<f32>, tile<f32>) {
    yield %a, %a : tile<f32>, tile<f32>
  } else {
    yield %a, %a : tile<f32>, tile<f32>
  }
  %s = addf «r1»%r#0, «r2»%r#1 : tile<f32>
  return
}
""")
    (token,) = [at for at, text in enumerate(made.tokens) if text == "%r#1"]
    value = made.value_at(token)
    assert value is not None
    record, number = value
    assert number == 1
    assert [str(type) for type in record.types] == ["!cuda_tile.tile<f32>"] * 2


def test_blocks() -> None:
    check_names("""\
llvm.func @f(%c: i1, «v»%v: i32) -> i32 {
  llvm.cond_br %c, «a1»^bb1(«v1»%v : i32), «b1»^bb2
«a»^bb1(«w»%w: i32):
  llvm.return «w1»%w : i32
«b»^bb2:
  llvm.br «a2»^bb1(«v2»%v : i32)
}
llvm.func @g(%v: i32) -> i32 {
  llvm.br «c1»^bb1
«c»^bb1:
  llvm.return %v : i32
}
""")


def test_symbols() -> None:
    """A path names a symbol in a module; the generic form defines one by a string."""
    check_names("""\
module {
  gpu.module «m»@m {
    gpu.func «f»@f() kernel {
      gpu.return
    }
  }
  "llvm.mlir.global"() <{sym_name = «g»"g", global_type = i32,
                           linkage = #llvm.linkage<internal>}> ({
  }) : () -> ()
  llvm.func @other() {
    %0 = llvm.mlir.addressof «g1»@g : !llvm.ptr
    llvm.return
  }
  llvm.func @f() attributes {calls = «m1»@m::«f1»@f} {
    llvm.return
  }
}
""")


def test_aliases_before_and_after_their_uses() -> None:
    made = check_names("""\
«t»!t = i32
entry @f(%a: tile<«t1»!t>) {
  %b = addi %a, %a : tile<«t2»!t> loc(«l1»#l)
  return loc(«l2»#l)
}
«l»#l = loc("kernel.py":3:4)
""")
    assert str(made.alias_value("!t")) == "i32"
    assert made.alias_text("!t") == "!t = i32"
    assert made.alias_text("#l") == '#l = loc("kernel.py":3:4)'


def test_a_program_with_errors_is_indexed_but_for_the_invalid_operations() -> None:
    check_names("""\
entry @f(«a»%a: tile<f32>) {
  «b»%b = nope «a1»%a, «a2»%a
  «c»%c = addf «a3»%a, «b1»%b : tile<f32>
  for %i in «c1»%c {
    «d»%d = addf «a4»%a, «c2»%c : tile<f32>
    %e = addf «d1»%d, «d2»%d : tile<f32>
  }
  return
}
entry @g(«x»%a: tile<f32>) {
  %c = addf «x1»%a, «x2»%a : tile<f32>
  return
""")


def test_undefined_names_have_no_definition() -> None:
    made = index("entry @f() {\n  %a = addf %b, %b : tile<f32>\n  br ^x\n  call @y\n}\n")
    for name in ("%b", "^x", "@y"):
        token = made.tokens.index(name)
        assert made.definition(token) is None


def test_tokens_by_offset() -> None:
    text = "entry @f(%a: tile<f32>) { // %a\n  return\n}\n"
    made = index(text)

    def word(offset: int) -> str | None:
        token = made.token_at(offset)
        return None if token is None else made.tokens[token]

    assert word(0) == word(5) == "entry"
    assert word(6) == word(8) == "@f"
    assert word(9) == word(11) == "%a"
    assert word(12) is None
    assert word(text.index("// %a") + 3) is None
    assert word(len(text)) is None


def test_operations_and_scopes_by_token() -> None:
    text = """\
cuda_tile.module @m {
  entry @f(%n: tile<i32>) {
    for %i in (%n to %n, step %n) : tile<i32> {
      %x = addi %i, %i : tile<i32>
      continue
    }
    return
  }
}
"""
    made = index(text)
    addi = made.operation_at(made.tokens.index("addi") + 1)
    assert addi is not None
    assert addi.kind is context().op("cuda_tile.addi")
    names = []
    record = addi.parent
    while record is not None:
        names.append(made.tokens[record.name])
        record = record.parent
    assert names == ["for", "entry", "cuda_tile.module"]
    after = made.operation_at(made.tokens.index("return"))
    assert after is not None
    assert after.parent is not None
    assert made.tokens[after.parent.name] == "entry"
    inner = [scope.op for scope in made.scope_at(addi.name).around()]
    assert [made.tokens[op.name] for op in inner if op is not None] == names


def test_errors_at_stated_locations_are_in_the_text() -> None:
    """Both operations share an alias, and the verifier rejects the second one."""
    text = """\
entry @f(%a: tile<i32> loc("k.py":1:1)) {
  %x = addi %a, %a : tile<i32> loc(#l)
  %y = addf %a, %a : tile<i32> loc(#l)
  return
}
#l = loc("k.py":3:4)
"""
    made, module, errors = index_text(text, context(), "k", "cuda_tile")
    assert not errors
    assert module is not None
    sink = Sink()
    verify(module, sink)
    (error,) = sink.diagnostics
    assert str(error.location) == "k.py:3:5"
    start = text.index("addf")
    assert made.location_range(error.location) == (start, start + 4)


@each_case("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_name_of_a_valid_program_is_defined(path: Path) -> None:
    made = index(path.read_text())
    names = [at for at, token in enumerate(made.tokens) if re.match(r"[%^@]", token)]
    assert names
    assert [made.tokens[at] for at in names if made.definition(at) is None] == []
