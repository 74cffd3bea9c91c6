"""The text of loops with loads and dots, for `random_pipelines`."""

from __future__ import annotations

from typing import NamedTuple

from pipeline_views import Views


class Operand(NamedTuple):
    """A or B, in memory and in the dot."""

    name: str
    loaded: str
    """The element type in memory."""
    element: str
    """The element type in the dot."""
    change: str
    k_major: bool
    """Whether it is contiguous along K."""
    gathered: bool
    """Whether it is loaded through pointers; only A is."""
    gap: int = 0
    """Elements between its lines in memory: an odd number leaves them unaligned."""
    padding: str = "zero"
    """What a view has out of bounds; what is gathered has 2 there instead of anything else."""
    computed: str = ""
    """How B is computed instead of loaded: a `constant`, a `ramp`, or the `counter` of the loop."""


class Split(NamedTuple):
    """A condition on the counter: before and after it changes, dots have their own accumulators."""

    predicate: str
    limit: int
    is_constant: bool
    """Whether the limit is part of the program; else it is an argument."""


class Loop(NamedTuple):
    """A random program and its schedule."""

    arch: str
    schedule: str
    a: Operand
    b: Operand | None
    """Nothing in a loop that adds up tiles of A."""
    tile: tuple[int, int, int]
    extents: tuple[int, int, int]
    """M, N and K, which need not be multiples of the tile."""
    aligned: bool
    trips: tuple[int, int]
    """The first tile along K, and the step."""
    is_read: bool
    """Whether the loop reads the accumulator, too."""
    tiles: int
    """How many tiles of rows an outer loop computes."""
    reduced: bool
    """Whether the rows of the result are reduced before they are stored."""
    overwrites: str
    """Where a store overwrites a tile of A: `after` the loop, or inside of it; nothing if not."""
    indices: str = ""
    """How the loop loads the index of a tile along K from a list: through a `view`, a `pointer`, or
    with a `mask`; or the `rows` that are gathered, from a matrix. Nothing if it does not."""
    split: Split | None = None
    """What loop splitting makes two loops of; the second accumulator counts twice."""
    ctas: int = 1
    """The hint how many CTAs of a cluster share the tiles."""
    output: str = ""
    """The element type of C in memory, if it is not that of the accumulator."""
    half: bool = False
    """Whether f16 is accumulated in f16."""
    views: Views = Views()

    @property
    def accumulator(self) -> str:
        """The element type of the result."""
        if self.half:
            return "f16"
        return "i32" if self.a.element == "i8" else "f32"

    @property
    def stored(self) -> str:
        """The element type of C in memory."""
        return self.output or self.accumulator

    @property
    def result(self) -> str:
        """The tile of the result."""
        return self.result_of(self.accumulator)

    def result_of(self, element: str) -> str:
        """The tile of the result, with elements of a type."""
        m, n, k = self.tile
        return f"tile<{m}x{n if self.b else k}x{element}>"

    @property
    def hints(self) -> str:
        """The hints of the kernel."""
        number = f"{self.arch} = {{num_cta_in_cga = {self.ctas}}}"
        return f"optimization_hints=<{number}> " if self.ctas > 1 else ""

    @property
    def assume(self) -> str:
        """The assumption about pointers and extents."""
        return "assume div_by<16>," if self.aligned else "assume div_by<1>,"


def text_of(loop: Loop) -> str:
    """The program as Tile IR text."""
    c, sum_type, zero = loop.result, loop.accumulator, _zero(loop.accumulator)
    a, b = loop.a, loop.b
    add = "addi" if sum_type == "i32" else "addf"
    view = _view_type(loop, "c")
    read = f"%v = {add} %w, %d : {c}" if loop.is_read else ""
    result = "%z" if loop.reduced else "%sum"
    stored = "%narrow" if loop.output else result
    second = "%v" if loop.is_read or loop.split else "%w"
    return f"""
cuda_tile.module @m {{
  entry @k(%p: tile<ptr<{a.loaded}>>, %q0: tile<ptr<{(b or a).loaded}>>,
           %o: tile<ptr<{loop.stored}>>,
           %m0: tile<i32>, %n0: tile<i32>, %k0: tile<i32>, %limit0: tile<i32>,
           %list: tile<ptr<i32>>) {loop.hints}{{
    {_setup(loop)}
    %none = constant <{sum_type}: {zero}> : {c}
    %t0 = make_token : token
    for %i in (%zero to %tiles, step %one) : tile<i32> {{
      {loop.views.tile_index("row", "%i", loop.views.rows, loop.tiles)}
      %s, %w2, %loaded = for %j in (%first to %count, step %step) : tile<i32>
          iter_values(%acc = %none, %w = %none, %before = %t0) -> ({c}, {c}, token) {{
        {_index(loop)}
        {_k_index(loop, "at_k", "%index")}
        {_load(loop, a)}
        {_changed(loop, a)}
        {_load(loop, b) if b else ""}
        {_changed(loop, b) if b else ""}
        {_split(loop) if loop.split else _accumulate(loop)}
        {read}
        {_overwritten(loop, "%at_k", "%at1") if loop.overwrites == "inside" else ""}
        %after = join_tokens %before, %at1 : token
        continue %d, {second}, {"%after" if loop.overwrites else "%before"} : {c}, {c}, token
      }}
      {f"%w3 = {add} %w2, %w2 : {c}" if loop.split else ""}
      %sum = {add} %s, {"%w3" if loop.split else "%w2"} : {c}
      {_reduced(loop) if loop.reduced else ""}
      {f"%narrow = ftof {result} : {c} -> {loop.result_of(loop.output)}" if loop.output else ""}
      %t2 = store_view_tko weak {stored}, %cv[%row, %left]
          : {loop.result_of(loop.stored)}, {view}, tile<{loop.views.type}> -> token
      {_overwritten(loop, "%first_k", "%loaded") if loop.overwrites == "after" else ""}
      continue
    }}
    return
  }}
}}"""


def _zero(element: str) -> str:
    return "0" if element.startswith("i") else "0.0"


def _tile(loop: Loop, operand: Operand, element: str) -> str:
    """The tile of an operand, with elements of a type."""
    m, n, k = loop.tile
    rows, columns = (m, k) if operand.name == "a" else (k, n)
    return f"tile<{rows}x{columns}x{element}>"


def _operand(loop: Loop, name: str) -> Operand:
    operand = loop.a if name == "a" else loop.b
    assert operand is not None
    return operand


def _tensor_type(loop: Loop, name: str) -> str:
    """The type of A, B or C in memory."""
    if name == "c":
        return f"tensor_view<?x?x{loop.stored}, strides=[?,1]>"
    operand = _operand(loop, name)
    is_row_major = operand.k_major == (name == "a")
    return f"tensor_view<?x?x{operand.loaded}, strides={'[?,1]' if is_row_major else '[1,?]'}>"


def _view_type(loop: Loop, name: str) -> str:
    m, n, k = loop.tile
    width = n if loop.b else k
    tile = {"a": f"{m}x{k}", "b": f"{k}x{n}", "c": f"{m}x{width}"}[name]
    padding = "" if name == "c" else f"padding_value = {_operand(loop, name).padding}, "
    return f"partition_view<tile=({tile}), {padding}{_tensor_type(loop, name)}>"


def _setup(loop: Loop) -> str:
    """Views, the bounds of the loops, and the constants."""
    a, b, assume, views = loop.a, loop.b, loop.assume, loop.views
    a_strides = "%a_step, 1" if a.k_major else "1, %a_step"
    b_strides = "1, %b_step" if b and b.k_major else "%b_step, 1"
    (m, _, k), extents, type = loop.tile, loop.extents, f"tile<{views.type}>"
    skipped = views.rows * m, views.k * k
    c_extent = extents[1] if b else k
    limit = f"constant <i32: {loop.split.limit}>" if loop.split and loop.split.is_constant else ""
    b_views = (
        f"""
    {_stride(b, "%columns")}
    {views.cast("b_step", "%b_stride")}
    {views.size("b_columns", "%columns", 0, extents[1])}
    {_base(loop, b)}
    %bt = make_tensor_view %b_base, shape = [%all_k, %b_columns], strides = [{b_strides}]
        : {type} -> {_tensor_type(loop, "b")}
    %bv = make_partition_view %bt : {_view_type(loop, "b")}"""
        if b
        else ""
    )
    width = "%columns" if b else "%extent"
    return f"""
    %pa = {assume} %p : tile<ptr<{a.loaded}>>
    %pb = {assume} %q0 : tile<ptr<{(b or a).loaded}>>
    %pc = {assume} %o : tile<ptr<{loop.stored}>>
    %rows = {assume} %m0 : tile<i32>
    %columns = {assume} %n0 : tile<i32>
    %k_extent = {assume} %k0 : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = constant <i32: {loop.trips[0]}> : tile<i32>
    %step = constant <i32: {loop.trips[1]}> : tile<i32>
    %tiles = constant <i32: {loop.tiles}> : tile<i32>
    %height = constant <i32: {loop.tile[0]}> : tile<i32>
    %extent = constant <i32: {loop.tile[2]}> : tile<i32>
    %limit = {limit or "assume div_by<1>, %limit0"} : tile<i32>
    %count = divi %k_extent, %extent signed rounding<positive_inf> : tile<i32>
    {_stride(a, "%rows")}
    {views.cast("a_step", "%a_stride")}
    {views.size("all_rows", "%rows", skipped[0], extents[0])}
    {views.size("all_k", "%k_extent", skipped[1], extents[2])}
    {views.size("c_columns", width, 0, c_extent)}
    {_base(loop, a)}
    %at = make_tensor_view %a_base, shape = [%all_rows, %all_k], strides = [{a_strides}]
        : {type} -> {_tensor_type(loop, "a")}
    %av = make_partition_view %at : {_view_type(loop, "a")}{b_views}
    {views.base("c_base", f"{assume} %pc", loop.stored, [(skipped[0], width)])}
    %ct = make_tensor_view %c_base, shape = [%all_rows, %c_columns], strides = [%c_columns, 1]
        : {type} -> {_tensor_type(loop, "c")}
    %cv = make_partition_view %ct : {_view_type(loop, "c")}
    {views.cast("left", "%zero")}
    {_k_index(loop, "first_k", "%first")}
    {_list_view(loop)}"""


def _k_index(loop: Loop, name: str, value: str) -> str:
    """The index of a tile along K in its view; no list has another than those of the loop."""
    return loop.views.tile_index(name, value, loop.views.k, loop.extents[2] + loop.trips[0])


def _base(loop: Loop, operand: Operand) -> str:
    """The address that the view of A or B starts at."""
    (m, _, k), name = loop.tile, operand.name
    stride = f"%{name}_stride"
    across, along = (stride, "%one") if operand.k_major else ("%one", stride)
    skipped = [(loop.views.rows * m if name == "a" else 0, across), (loop.views.k * k, along)]
    return loop.views.base(f"{name}_base", f"{loop.assume} %p{name}", operand.loaded, skipped)


def _stride(operand: Operand, width: str) -> str:
    """The stride of A or B: `%a_stride` or `%b_stride`; `width` is its extent beside K."""
    extent, stride = "%k_extent" if operand.k_major else width, f"%{operand.name}_stride"
    gap = f"{stride}1 = constant <i32: {operand.gap}> : tile<i32>"
    return f"{gap}\n    {stride} = addi {extent}, {stride}1 : tile<i32>"


def _load(loop: Loop, operand: Operand) -> str:
    """Load an operand, as `%a0` or `%b0`, with the token `%at1` or `%bt1`."""
    if operand.gathered:
        return _gather(loop, operand)
    if operand.computed:
        return _computed(loop, operand)
    name, view = operand.name, _view_type(loop, operand.name)
    indices = "%row, %at_k" if name == "a" else "%at_k, %left"
    tile = _tile(loop, operand, operand.loaded)
    return (
        f"%{name}0, %{name}t1 = load_view_tko weak %{name}v[{indices}] token = %t0 "
        f": {view}, tile<{loop.views.type}> -> {tile}, token"
    )


def _computed(loop: Loop, operand: Operand) -> str:
    """Compute an operand that is not loaded."""
    name, element, tile = f"%{operand.name}0", operand.loaded, _tile(loop, operand, operand.loaded)
    if operand.computed == "ramp":
        return _ramp(loop, operand, name, element)
    if operand.computed == "constant":
        return f"{name} = constant <{element}: {_zero(element).replace('0', '2', 1)}> : {tile}"
    kind = "trunci %j" if element == "i8" else "itof %j signed"
    return f"""{name}1 = {kind} : tile<i32> -> tile<{element}>
        {name}2 = reshape {name}1 : tile<{element}> -> tile<1x1x{element}>
        {name} = broadcast {name}2 : tile<1x1x{element}> -> {tile}"""


def _list_type(loop: Loop) -> str:
    """The view of the indices."""
    if loop.indices == "rows":
        tile, tensor = f"1x{loop.tile[0]}", "tensor_view<?x?xi32, strides=[?,1]>"
    else:
        tile, tensor = "1", "tensor_view<?xi32, strides=[1]>"
    return f"partition_view<tile=({tile}), padding_value = zero, {tensor}>"


def _list_view(loop: Loop) -> str:
    """The view `%lv` of the indices, if they are loaded through one: none exist beyond its end."""
    if loop.indices not in ("view", "rows"):
        return ""
    view = _list_type(loop)
    tensor = view[view.index("tensor_view") : -1]
    shape = "shape = [%count], strides = [1]"
    if loop.indices == "rows":
        shape = "shape = [%count, %rows], strides = [%rows, 1]"
    return f"""%lt = make_tensor_view %list, {shape} : tile<i32> -> {tensor}
    %lv = make_partition_view %lt : {view}"""


def _index(loop: Loop) -> str:
    """The index of a tile along K in an iteration: `%index`."""
    if loop.indices == "view":
        return f"""%li, %lt1 = load_view_tko weak %lv[%j] token = %t0
            : {_list_type(loop)}, tile<i32> -> tile<1xi32>, token
        %index = reshape %li : tile<1xi32> -> tile<i32>"""
    if loop.indices in ("pointer", "mask"):
        mask, types = "", ""
        if loop.indices == "mask":
            mask, types = ", %listed, %zero", ", tile<i1>, tile<i32>"
        return f"""%lp = offset %list, %j : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %listed = cmpi less_than %j, %count, signed : tile<i32> -> tile<i1>
        %index, %lt1 = load_ptr_tko weak %lp{mask} token=%t0
            : tile<ptr<i32>>{types} -> tile<i32>, token"""
    return "%index = reshape %j : tile<i32> -> tile<i32>"


def _gathered_rows(loop: Loop, numbers: str) -> str:
    """The rows of A that are gathered: `%back`, the last row first or as a matrix has them."""
    if loop.indices != "rows":
        return f"%back = subi %last, %gr : {numbers}"
    m = loop.tile[0]
    return f"""%li, %lt1 = load_view_tko weak %lv[%j, %i] token = %t0
            : {_list_type(loop)}, tile<i32> -> tile<1x{m}xi32>, token
        %lr = reshape %li : tile<1x{m}xi32> -> tile<{m}x1xi32>
        %back = broadcast %lr : tile<{m}x1xi32> -> {numbers}"""


def _gather(loop: Loop, operand: Operand) -> str:
    """Load A through pointers, the last row first; a mask says which elements exist."""
    (m, _, k), element = loop.tile, operand.loaded
    shape = f"{m}x{k}x"
    numbers, bits, pointers = (
        f"tile<{shape}i32>",
        f"tile<{shape}i1>",
        f"tile<{shape}ptr<{element}>>",
    )
    tile = _tile(loop, operand, element)
    padding = _zero(element) if operand.padding == "zero" else _zero(element).replace("0", "2", 1)
    row, column = ("%back", "%gc") if operand.k_major else ("%gc", "%gr")
    return f"""
        %gi = muli %i, %height : tile<i32>
        %gj = muli %index, %extent : tile<i32>
        {_spread("%gi", "%gis", numbers)}
        {_spread("%gj", "%gjs", numbers)}
        {_spread("%rows", "%rowss", numbers)}
        {_spread("%k_extent", "%ks", numbers)}
        {_spread("%a_stride", "%strides", numbers)}
        %ri = iota : tile<{m}xi32>
        %ri1 = reshape %ri : tile<{m}xi32> -> tile<{m}x1xi32>
        %ris = broadcast %ri1 : tile<{m}x1xi32> -> {numbers}
        %ci = iota : tile<{k}xi32>
        %ci1 = reshape %ci : tile<{k}xi32> -> tile<1x{k}xi32>
        %cis = broadcast %ci1 : tile<1x{k}xi32> -> {numbers}
        %gr = addi %ris, %gis : {numbers}
        %gc = addi %cis, %gjs : {numbers}
        %ones = constant <i32: 1> : {numbers}
        %last = subi %rowss, %ones : {numbers}
        {_gathered_rows(loop, numbers)}
        %line = muli {row}, %strides : {numbers}
        %offsets = addi %line, {column} : {numbers}
        %pa1 = reshape %pa : tile<ptr<{element}>> -> tile<1x1xptr<{element}>>
        %pas = broadcast %pa1 : tile<1x1xptr<{element}>> -> {pointers}
        %ga = offset %pas, %offsets : {pointers}, {numbers} -> {pointers}
        %in_rows = cmpi less_than %gr, %rowss, signed : {numbers} -> {bits}
        %in_k = cmpi less_than %gc, %ks, signed : {numbers} -> {bits}
        %mask = andi %in_rows, %in_k : {bits}
        %padding = constant <{element}: {padding}> : {tile}
        %a0, %at1 = load_ptr_tko weak %ga, %mask, %padding token=%t0
            : {pointers}, {bits}, {tile} -> {tile}, token"""


def _spread(scalar: str, name: str, tile: str) -> str:
    """Broadcast an i32 to a tile of two dimensions."""
    return (
        f"{name}1 = reshape {scalar} : tile<i32> -> tile<1x1xi32>\n"
        f"        {name} = broadcast {name}1 : tile<1x1xi32> -> {tile}"
    )


def _changed(loop: Loop, operand: Operand) -> str:
    """Convert an operand to the type of the dot and change it: `%a` or `%b`."""
    name, element, loaded = operand.name, operand.element, operand.loaded
    # There is no arithmetic on tf32: it is changed before it is converted.
    if element == "tf32":
        changed = _arithmetic(loop, operand, f"%{name}0", f"%{name}2", loaded)
        return f"{changed}\n        {_converted(loop, operand, f'%{name}2', f'%{name}')}"
    converted = _converted(loop, operand, f"%{name}0", f"%{name}2")
    sum_type = loop.accumulator if loop.b is None else element
    return f"{converted}\n        {_arithmetic(loop, operand, f'%{name}2', f'%{name}', sum_type)}"


def _converted(loop: Loop, operand: Operand, source: str, name: str) -> str:
    """Convert an operand to the type of the dot, or that of the sum."""
    loaded, element = operand.loaded, operand.element if loop.b else loop.accumulator
    before, after = (_tile(loop, operand, each) for each in (loaded, element))
    if loaded == element:
        return f"{name} = reshape {source} : {before} -> {after}"
    if loaded == "i8":
        kind = "exti {} signed" if element == "i32" else "itof {} signed"
        return f"{name} = {kind.format(source)} : {before} -> {after}"
    return f"{name} = ftof {source} : {before} -> {after}"


def _arithmetic(loop: Loop, operand: Operand, source: str, name: str, element: str) -> str:
    tile = _tile(loop, operand, element)
    is_integer = element.startswith("i")
    add, multiply = ("addi", "muli") if is_integer else ("addf", "mulf")
    if operand.change == "double":
        return f"{name} = {add} {source}, {source} : {tile}"
    if operand.change == "":
        return f"{name} = reshape {source} : {tile} -> {tile}"
    if operand.change == "scale":
        scales = f"{name}3 = constant <{element}: {'3' if is_integer else '3.0'}> : {tile}"
    else:
        scales = _ramp(loop, operand, f"{name}3", element)
    return f"{scales}\n        {name} = {multiply} {source}, {name}3 : {tile}"


def _ramp(loop: Loop, operand: Operand, name: str, element: str) -> str:
    """Number the columns, from zero on, in every row."""
    _, n, k = loop.tile
    width = k if operand.name == "a" else n
    row, tile = f"tile<{width}x{element}>", _tile(loop, operand, element)
    kind = "trunci {}" if element == "i8" else "itof {} signed"
    convert = f"{kind.format(name + '4')} : tile<{width}xi32> -> {row}"
    if element == "i32":
        convert = f"reshape {name}4 : {row} -> {row}"
    return f"""{name}4 = iota : tile<{width}xi32>
        {name}5 = {convert}
        {name}6 = reshape {name}5 : {row} -> tile<1x{width}x{element}>
        {name} = broadcast {name}6 : tile<1x{width}x{element}> -> {tile}"""


def _accumulate(loop: Loop, name: str = "%d", before: str = "%acc") -> str:
    """Accumulate a dot, or a tile."""
    a, b, c = loop.a, loop.b, loop.result
    if b is None:
        return f"{name} = {'addi' if loop.accumulator == 'i32' else 'addf'} %a, {before} : {c}"
    dot = f"mmai %a, %b, {before} signed signed" if a.element == "i8" else f"mmaf %a, %b, {before}"
    return f"{name} = {dot} : {_tile(loop, a, a.element)}, {_tile(loop, b, b.element)}, {c}"


def _split(loop: Loop) -> str:
    """Accumulate in one of two accumulators, as the counter says: `%d` or `%v`."""
    assert loop.split is not None
    c = loop.result
    return f"""%holds = cmpi {loop.split.predicate} %j, %limit, signed : tile<i32> -> tile<i1>
        %d, %v = if %holds -> ({c}, {c}) {{
          {_accumulate(loop, "%e1", "%acc")}
          yield %e1, %w : {c}, {c}
        }} else {{
          {_accumulate(loop, "%e2", "%w")}
          yield %acc, %e2 : {c}, {c}
        }}"""


def _reduced(loop: Loop) -> str:
    """Replace each row of the result by its sum: `%z`."""
    c, sum_type, m = loop.result, loop.accumulator, loop.tile[0]
    return f"""
        %r = reduce %sum dim=1 identities=[{_zero(sum_type)} : {sum_type}]
            : {c} -> tile<{m}x{sum_type}>
        (%e: tile<{sum_type}>, %f: tile<{sum_type}>) {{
          %g = {"addi" if sum_type == "i32" else "addf"} %e, %f : tile<{sum_type}>
          yield %g : tile<{sum_type}>
        }}
        %q = reshape %r : tile<{m}x{sum_type}> -> tile<{m}x1x{sum_type}>
        %z = broadcast %q : tile<{m}x1x{sum_type}> -> {c}"""


def _overwritten(loop: Loop, index: str, token: str) -> str:
    """Overwrite a tile of A, after loads."""
    element, tile = loop.a.loaded, _tile(loop, loop.a, loop.a.loaded)
    one = "1" if element == "i8" else "1.0"
    return f"""%fill = constant <{element}: {one}> : {tile}
      %t3 = store_view_tko weak %fill, %av[%row, {index}] token = {token}
          : {tile}, {_view_type(loop, "a")}, tile<{loop.views.type}> -> token"""
