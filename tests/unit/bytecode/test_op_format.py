"""The derived formats against the format's own table of operations."""

from __future__ import annotations

from each_case import each_case

from tilewright.bytecode.op_format import OpFormat
from tilewright.bytecode.opcodes import OP_NAMES, OPCODES
from tilewright.dialects.cuda_tile import CUDA_TILE

OLD, NEW = (13, 1), (13, 5)

# Operation: number of results written, flags by bit, attributes in order, operands (F: all, V:
# counted, S: in groups). Whatever is not here has no count, no flags and fixed operands.
FORMATS = """
constant                  - | | value | F
get_global                - | | name | F
permute                   - | | permutation | F
cat                       - | | dim | F
extract                   y | | | V
insert                    y | | | V
join_tokens               y | | | V
reduce                    y | | dim identities | V
scan                      y | | dim reverse identities | V
exti                      - | | signedness | F
remi                      - | | signedness | F
maxi                      - | | signedness | F
mini                      - | | signedness | F
shri                      - | | signedness | F
trunci                    - | | overflow | F
addi                      - | | overflow | F
subi                      - | | overflow | F
muli                      - | | overflow | F
shli                      - | | overflow | F
negi                      - | | overflow | F
divi                      - | | signedness rounding | F
cmpi                      - | | comparison_predicate signedness | F
cmpf                      - | | comparison_predicate comparison_ordering | F
mmai                      - | | signedness_lhs signedness_rhs | F
ftof                      - | | rounding_mode | F
ftoi                      - | saturating | signedness rounding_mode | F
itof                      - | | signedness rounding_mode | F
addf                      - | flush_to_zero | rounding_mode | F
subf                      - | flush_to_zero | rounding_mode | F
mulf                      - | flush_to_zero | rounding_mode | F
divf                      - | flush_to_zero | rounding_mode | F
sqrt                      - | flush_to_zero | rounding_mode | F
fma                       - | flush_to_zero | rounding_mode | F
exp2                      - | flush_to_zero | | F
rsqrt                     - | flush_to_zero | | F
maxf                      - | propagate_nan flush_to_zero | | F
minf                      - | propagate_nan flush_to_zero | | F
exp                       - | | rounding_mode | F
tanh                      - | | rounding_mode | F
mmaf                      - | fast_acc | | F
if                        y | | | F
for                       y | unsignedCmp | | V
loop                      y | | | V
yield                     y | | | V
break                     y | | | V
continue                  y | | | V
return                    y | | | V
assert                    - | | message | F
assume                    - | | predicate | F
print_tko                 y | token | str | S
load_ptr_tko              - | memory_scope optimization_hints mask padding token | memory_ordering_semantics | S
store_ptr_tko             - | memory_scope optimization_hints mask token | memory_ordering_semantics | S
atomic_cas_tko            - | mask token | memory_ordering_semantics memory_scope | S
atomic_rmw_tko            - | mask token | memory_ordering_semantics memory_scope mode | S
atomic_red_view_tko       y | token | memory_ordering_semantics memory_scope mode inbounds | S
multimem_load_reduce_view_tko y | memory_scope token | memory_ordering_semantics reduction inbounds | S
multimem_reduce_view_tko  y | token | memory_ordering_semantics memory_scope reduction inbounds | S
multimem_store_view_tko   y | memory_scope token | memory_ordering_semantics inbounds | S
load_view_tko             y | memory_scope optimization_hints token | memory_ordering_semantics inbounds | S
store_view_tko            y | memory_scope optimization_hints token | memory_ordering_semantics inbounds | S
make_tensor_view          y | | | S
get_tensor_shape          y | | | F
get_index_space_shape     y | | | F
alloca                    - | global | num_elem alignment | F
gdc_wait_tko              - | | | V
gdc_launch_dependents_tko - | | | V
"""  # noqa: E501

ROWS = {row.split()[0]: row for row in FORMATS.strip().splitlines()}
BODY_OPS = sorted(set(OPCODES) - {"cuda_tile.module", "cuda_tile.entry", "cuda_tile.global"})


def spelled(format: OpFormat) -> str:
    """A format as the table spells it."""
    schema = format.kind.schema
    members = {field.name: field for field in (*schema.attributes, *schema.operands)}
    flags = [getattr(members[name], "spelling", name) for name in format.bits]
    attributes = [field.spelling for field in schema.attributes if not field.optional]
    operands = "S" if format.has_groups else "V" if format.counts_operands else "F"
    counted = "y" if format.counts_results else "-"
    return f"{counted} | {' '.join(flags)} | {' '.join(attributes)} | {operands}"


@each_case("name", BODY_OPS)
def test_the_format_of_each_operation(name: str) -> None:
    mnemonic = name.partition(".")[2]
    row = ROWS.get(mnemonic, f"{mnemonic} - | | | F")
    expected = " ".join(row.split()[1:])
    assert " ".join(spelled(OpFormat(CUDA_TILE.ops[name], NEW)).split()) == expected


# Attributes that came later, and where the flags begin with a later member.
@each_case(
    ("name", "since"),
    [("ftoi", (13, 4)), ("mmaf", (13, 3)), ("for", (13, 2)), ("print_tko", (13, 2))],
)
def test_flags_begin_with_their_first_member(name: str, since) -> None:
    kind = CUDA_TILE.ops[f"cuda_tile.{name}"]
    assert OpFormat(kind, since).has_flags
    assert not OpFormat(kind, (13, since[1] - 1)).has_flags


@each_case(
    ("name", "attribute", "since"),
    [
        ("negi", "overflow", (13, 2)),
        ("tanh", "rounding_mode", (13, 2)),
        ("exp", "rounding_mode", (13, 3)),
        ("load_view_tko", "inbounds", (13, 4)),
        ("store_view_tko", "inbounds", (13, 4)),
        ("atomic_red_view_tko", "inbounds", (13, 5)),
    ],
)
def test_later_attributes_are_absent_before(name: str, attribute: str, since) -> None:
    kind = CUDA_TILE.ops[f"cuda_tile.{name}"]
    assert attribute in [field.spelling for field in OpFormat(kind, since).attributes]
    before = OpFormat(kind, (13, since[1] - 1))
    assert [field.spelling for field in before.absent_attributes] == [attribute]


def test_the_token_of_print_came_with_13_2() -> None:
    old = OpFormat(CUDA_TILE.ops["cuda_tile.print_tko"], OLD)
    assert [field.name for field in old.absent_operands] == ["token"]
    assert [field.name for field in old.absent_results] == ["result_token"]


def test_every_operation_has_an_opcode_of_its_own() -> None:
    assert len(OPCODES) == len(OP_NAMES) == 108
    assert {op.name for op in CUDA_TILE.ops.values()} == set(OPCODES)


@each_case(
    ("version", "highest"),
    [((13, 1), 0x6D), ((13, 2), 0x6E), ((13, 3), 0x75), ((13, 4), 0x7A), ((13, 5), 0x7D)],
)
def test_opcodes_grew_with_the_versions(version, highest: int) -> None:
    known = [OPCODES[op.name] for op in CUDA_TILE.ops.values() if (op.since or OLD) <= version]
    assert max(known) == highest
    newer = [OPCODES[op.name] for op in CUDA_TILE.ops.values() if (op.since or OLD) > version]
    assert all(opcode > highest for opcode in newer)
