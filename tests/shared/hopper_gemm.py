"""A warp-specialised GEMM for Hopper, C = A @ B in bf16, written in gpu, nvgpu and cute_nvgpu.

Warpgroup 0 produces: one thread brings tiles of A and B to four stages in shared memory. The two
others consume: each multiplies 64 rows by 256 columns, and sends its part of C back. B is given as
[N, K] ("nt") or [K, N] ("nn"). The tensor maps are parameters, or with `plain` the kernel takes
addresses and makes the maps itself. With `cluster` 2 (not `plain`), two blocks share B.
"""

from __future__ import annotations

SPACE = "#gpu.address_space<workgroup>"
BARS = f"!nvgpu.mbarrier.group<memorySpace = {SPACE}, num_barriers = 4>"
A_BUF = f"memref<4x128x64xbf16, {SPACE}>"
C_BUF = f"memref<2x2x64x64xbf16, {SPACE}>"
ACC = "vector<128xf32>"
SLOTS = "memref<256x128xi32, 1>"
"""A slot: 32 words for each map, and behind them the word that locks it."""
MAPS = f"memref<3x32xi32, {SPACE}>"
LOCK = 96


def map_type(box: str) -> str:
    modes = "swizzle = swizzle_128b, l2promo = l2promo_256b, oob = zero, interleave = none"
    return f"!nvgpu.tensormap.descriptor<tensor = memref<{box}xbf16, 3>, {modes}>"


class Kernel:
    """Collects the lines of a kernel; constants are made once, at the top."""

    def __init__(self, layout: str, cluster: int, plain: bool, persistent: bool) -> None:
        self.layout = layout
        self.cluster = cluster
        self.plain = plain
        self.persistent = persistent
        self.lines: list[str] = []
        self.constants: dict[str, str] = {}
        self.indent = 3
        self.count = 0
        self.map_a = map_type("128x64")
        self.map_b = map_type(f"{256 // cluster}x64" if layout == "nt" else "64x64")
        self.map_c = map_type("64x64")
        shape = "4x256x64" if layout == "nt" else "4x4x64x64"
        self.b_buf = f"memref<{shape}xbf16, {SPACE}>"

    def line(self, text: str) -> None:
        self.lines.append("  " * self.indent + text)

    def value(self, text: str) -> str:
        self.count += 1
        name = f"%v{self.count}"
        self.line(f"{name} = {text}")
        return name

    def open(self, text: str) -> None:
        self.line(text)
        self.indent += 1

    def close(self, text: str = "}") -> None:
        self.indent -= 1
        self.line(text)

    def otherwise(self) -> None:
        self.close("} else {")
        self.indent += 1

    def constant(self, number: int, type: str = "i32") -> str:
        name = f"%c{number}_{type}".replace("-", "m")
        self.constants[name] = f"{name} = arith.constant {number} : {type}"
        return name

    def i(self, op: str, a: str, b: str | int, type: str = "i32") -> str:
        other = self.constant(b, type) if isinstance(b, int) else b
        return self.value(f"arith.{op} {a}, {other} : {type}")

    def index(self, value: str | int) -> str:
        if isinstance(value, int):
            return self.constant(value, "index")
        return self.value(f"arith.index_castui {value} : i32 to index")

    def number(self, query: str) -> str:
        return self.value(f"arith.index_castui {self.value(query)} : index to i32")

    def compare(self, predicate: str, a: str, b: str | int) -> str:
        other = self.constant(b) if isinstance(b, int) else b
        return self.value(f"arith.cmpi {predicate}, {a}, {other} : i32")

    def select(self, condition: str, a: str, b: str, type: str = "i32") -> str:
        return self.value(f"arith.select {condition}, {a}, {b} : {type}")

    def broadcast(self, value: str) -> str:
        zero, width = self.constant(0), self.constant(32)
        self.count += 1
        name = f"%v{self.count}"
        self.line(f"{name}, {name}_valid = gpu.shuffle idx {value}, {zero}, {width} : i32")
        return name

    def wait(self, bars: str, stage: str, phase: str) -> None:
        ticks = self.constant(10_000_000, "index")
        self.line(f"nvgpu.mbarrier.try_wait.parity {bars}[{stage}], {phase}, {ticks} : {BARS}")

    def prologue(self) -> None:
        self.tid = self.number("gpu.thread_id x upper_bound 384")
        # Every branch on the warp is uniform if the value is.
        self.warp = self.broadcast(self.i("shrui", self.tid, 5))
        self.lane = self.i("andi", self.tid, 31)
        self.group = self.i("shrui", self.warp, 2)
        block, blocks = self.number("gpu.block_id x"), self.number("gpu.grid_dim x")
        rows = 128 * self.cluster
        if self.cluster > 1:
            self.rank = self.number("gpu.cluster_block_id x")
            self.first = self.i("divui", block, self.cluster)
            self.step = self.i("divui", blocks, self.cluster)
        else:
            self.rank, self.first, self.step = self.constant(0), block, blocks
        self.m_tiles = self.i("divui", self.i("addi", "%M", rows - 1), rows)
        self.n_tiles = self.i("divui", self.i("addi", "%N", 255), 256)
        self.k_tiles = self.i("divui", self.i("addi", "%K", 63), 64)
        self.total = self.i("muli", self.m_tiles, self.n_tiles)
        self.in_group = self.i("muli", self.n_tiles, 8)
        self.line(f"%full = nvgpu.mbarrier.create -> {BARS}")
        self.line(f"%empty = nvgpu.mbarrier.create -> {BARS}")
        if self.plain:
            self.make_maps()
        else:
            self.open(f"scf.if {self.compare('eq', self.tid, 0)} {{")
            for name, type in (("ta", self.map_a), ("tb", self.map_b), ("tc", self.map_c)):
                self.line(f"nvgpu.tma.prefetch.descriptor %{name} : {type}")
            self.make_barriers()
            self.close()
        if self.cluster > 1:
            self.line("cute_nvgpu.cluster.arrive aligned")
            self.line("cute_nvgpu.cluster.wait aligned")
        else:
            self.line("gpu.barrier")
        if self.plain:
            self.take_maps()

    def make_barriers(self) -> None:
        for stage in range(4):
            for bars, count in (("%full", 1), ("%empty", 8 * self.cluster)):
                place, number = self.index(stage), self.index(count)
                self.line(f"nvgpu.mbarrier.init {bars}[{place}], {number} : {BARS}")
        self.line("cute_nvgpu.fence.mbarrier_init")

    def make_maps(self) -> None:
        """Warp 0 makes the maps while warp 1 makes the barriers."""
        self.line(f"%slots = memref.get_global @tm_slots : {SLOTS}")
        self.open(f"scf.if {self.compare('eq', self.warp, 1)} {{")
        self.open(f"scf.if {self.compare('eq', self.lane, 0)} {{")
        self.make_barriers()
        self.close()
        self.close()
        self.open(f"scf.if {self.compare('eq', self.warp, 0)} {{")
        first = self.compare("eq", self.lane, 0)
        hint = self.i("remui", self.value("cute_nvgpu.sm_id"), 256)
        lock = self.index(LOCK)
        place = self.index(hint)
        # The answer is looked at when the maps are ready.
        self.open(f"%got = scf.if {first} -> (i1) {{")
        taken = self.value(f"cute_nvgpu.slot.acquire %slots[{place}, {lock}] holders 2 : {SLOTS}")
        self.line(f"scf.yield {taken} : i1")
        self.otherwise()
        self.line("scf.yield %true : i1")
        self.close()
        lane = self.index(self.lane)
        for number in range(3):
            self.line(
                f"memref.store {self.constant(0)}, %maps[{self.index(number)}, {lane}] : {MAPS}"
            )
        self.line("cute_nvgpu.warp_sync")
        self.fill_maps(lane)
        self.line("cute_nvgpu.warp_sync")
        slot = self.own_slot(first, hint, lock)
        self.line("cute_nvgpu.warp_sync")
        slot = self.broadcast(slot)
        place = self.index(slot)
        for number in range(3):
            storage = f"%maps[{self.index(number)}, {self.index(0)}]"
            target = f"%slots[{place}, {self.index(32 * number)}]"
            self.line(f"cute_nvgpu.tensormap.publish {storage} to {target} : {MAPS} to {SLOTS}")
        for name, type in self.maps_at(place):
            self.line(f"nvgpu.tma.fence.descriptor {name} : {type}")
        self.open(f"scf.if {first} {{")
        self.line(f"memref.store {slot}, %mine[{self.index(0)}] : memref<1xi32, {SPACE}>")
        self.close()
        self.close()

    def fill_maps(self, lane: str) -> None:
        """Lanes 0, 1 and 2 fill the maps of A, B and C side by side."""
        self.open(f"scf.if {self.compare('ult', self.lane, 3)} {{")
        is_a, is_b = self.compare("eq", self.lane, 0), self.compare("eq", self.lane, 1)

        def pick(a: str, b: str, c: str, type: str = "i32") -> str:
            return self.select(is_a, a, self.select(is_b, b, c, type), type)

        inner, outer = ("%K", "%N") if self.layout == "nt" else ("%N", "%K")
        address = pick("%A", "%B", "%C", "i64")
        d0, d1 = pick("%K", inner, "%N"), pick("%M", outer, "%M")
        wide = self.value(f"arith.extui {d0} : i32 to i64")
        stride = self.i("shli", wide, 1, "i64")
        rows = [128, 256 if self.layout == "nt" else 64, 64]
        box = pick(*[self.constant(number) for number in rows])
        place = f"%maps[{lane}, {self.index(0)}], {address}"
        self.line(
            f"cute_nvgpu.tensormap.fill {place} sizes[{d1}, {d0}] strides[{stride}] box[{box}] : "
            f"{MAPS}, {map_type('?x64').replace('l2promo_256b', 'none')}"
        )
        self.close()

    def own_slot(self, first: str, hint: str, lock: str) -> str:
        """The slot of this multiprocessor, or the next one that is free."""
        missed = self.value("arith.xori %got, %true : i1")
        search = self.value(f"arith.andi {first}, {missed} : i1")
        self.open(f"%slot0 = scf.if {search} -> (i32) {{")
        self.open(f"%found = scf.while (%s = {hint}) : (i32) -> i32 {{")
        after = self.i("addi", "%s", 1)
        end = self.compare("eq", after, 256)
        next = self.select(end, self.constant(0), after)
        place = self.index(next)
        got = self.value(f"cute_nvgpu.slot.acquire %slots[{place}, {lock}] holders 2 : {SLOTS}")
        again = self.value(f"arith.xori {got}, %true : i1")
        self.open(f"scf.if {again} {{")
        self.line(f"cute_nvgpu.nanosleep {self.constant(32)}")
        self.close()
        self.line(f"scf.condition({again}) {next} : i32")
        self.close("} do {")
        self.indent += 1
        self.line("^bb0(%s: i32):")
        self.line("scf.yield %s : i32")
        self.close()
        self.line("scf.yield %found : i32")
        self.otherwise()
        self.line(f"scf.yield {hint} : i32")
        self.close()
        return "%slot0"

    def maps_at(self, place: str) -> list[tuple[str, str]]:
        types = (self.map_a, self.map_b, self.map_c)
        return [
            (
                self.value(
                    f"cute_nvgpu.tensormap.at %slots[{place}, {self.index(32 * number)}] : "
                    f"{SLOTS} -> {type}"
                ),
                type,
            )
            for number, type in enumerate(types)
        ]

    def take_maps(self) -> None:
        slot = self.value(f"memref.load %mine[{self.index(0)}] : memref<1xi32, {SPACE}>")
        self.slot = self.index(slot)
        self.ta, self.tb, self.tc = [name for name, _ in self.maps_at(self.slot)]

    def tile_at(self, tile: str) -> tuple[str, str]:
        """First row and column of a tile; eight rows of tiles are worked through together."""
        group, rest = self.i("divui", tile, self.in_group), self.i("remui", tile, self.in_group)
        top = self.i("muli", group, 8)
        height = self.i("minui", self.i("subi", self.m_tiles, top), 8)
        row = self.i("addi", top, self.i("remui", rest, height))
        column = self.i("divui", rest, height)
        m = self.i("muli", row, 128 * self.cluster)
        if self.cluster > 1:
            m = self.i("addi", m, self.i("muli", self.rank, 128))
        return m, self.i("muli", column, 256)

    def tiles(self, results: str, carried: str, types: str) -> None:
        """A loop over the tiles of this block, or its only tile."""
        end = self.total if self.persistent else self.i("addi", self.first, 1)
        self.open(
            f"{results} = scf.for unsigned %tile = {self.first} to {end} step {self.step} "
            f"iter_args({carried}) -> ({types}) : i32 {{"
        )

    def advance(self, stage: str, phase: str) -> tuple[str, str]:
        wrap = self.compare("eq", stage, 3)
        after = self.select(wrap, self.constant(0), self.i("addi", stage, 1))
        return after, self.value(f"arith.xori {phase}, {wrap} : i1")

    def produce(self) -> None:
        self.line("cute_nvgpu.set_max_registers decrease 40")
        self.open(f"scf.if {self.compare('eq', self.warp, 0)} {{")
        self.open(f"scf.if {self.value('cute_nvgpu.elect_one')} {{")
        zero, one = self.constant(0), self.constant(1)
        # The first round waits for a phase that is over already.
        self.tiles("%p:2", f"%s0 = {zero}, %ph0 = %true", "i32, i1")
        m, n = self.tile_at("%tile")
        self.open(
            f"%q:2 = scf.for unsigned %k = {zero} to {self.k_tiles} step {one} "
            "iter_args(%s = %s0, %ph = %ph0) -> (i32, i1) : i32 {"
        )
        stage = self.index("%s")
        self.wait("%empty", stage, "%ph")
        size = self.index((128 + 256) * 64 * 2)
        self.line(f"nvgpu.mbarrier.arrive.expect_tx %full[{stage}], {size} : {BARS}")
        depth = self.index(self.i("muli", "%k", 64))
        self.load(self.ta, self.map_a, f"{self.index(m)}, {depth}", stage, "%a", A_BUF, [0, 0])
        self.load_b(stage, n, depth)
        after, phase = self.advance("%s", "%ph")
        self.line(f"scf.yield {after}, {phase} : i32, i1")
        self.close()
        self.line("scf.yield %q#0, %q#1 : i32, i1")
        self.close()
        self.close()
        self.close()

    def load(
        self,
        map: str,
        type: str,
        coordinates: str,
        stage: str,
        buffer: str,
        buffer_type: str,
        place: list[str | int],
        mask: str = "",
    ) -> None:
        indices = ", ".join([stage, *map_indices(self, place)])
        self.line(
            f"cute_nvgpu.tma.load {map}[{coordinates}], %full[{stage}] to {buffer}[{indices}]"
            f"{mask} : {type}, {BARS} to {buffer_type}"
        )

    def load_b(self, stage: str, n: str, depth: str) -> None:
        mask = f" multicast {self.constant(3, 'i16')}" if self.cluster > 1 else ""
        if self.layout == "nt":
            share = 256 // self.cluster
            row = self.i("muli", self.rank, share)
            at = f"{self.index(self.i('addi', n, row))}, {depth}"
            self.load(self.tb, self.map_b, at, stage, "%b", self.b_buf, [row, 0], mask)
            return
        share = 4 // self.cluster
        for number in range(share):
            block = self.i("addi", self.i("muli", self.rank, share), number)
            column = self.index(self.i("addi", n, self.i("muli", block, 64)))
            at = f"{depth}, {column}"
            self.load(self.tb, self.map_b, at, stage, "%b", self.b_buf, [block, 0, 0], mask)

    def release(self, stage: str) -> None:
        """One lane of each warp tells every block that shares the stage."""
        limit = self.cluster
        self.open(f"scf.if {self.compare('ult', self.lane, limit)} {{")
        place = self.index(stage)
        if self.cluster > 1:
            self.line(f"cute_nvgpu.mbarrier.arrive_remote %empty[{place}], {self.lane} : {BARS}")
        else:
            self.value(f"nvgpu.mbarrier.arrive %empty[{place}] : {BARS} -> !nvgpu.mbarrier.token")
        self.close()

    def consume(self) -> None:
        self.line("cute_nvgpu.set_max_registers increase 232")
        self.half = self.i("subi", self.group, 1)
        zero, one = self.constant(0), self.constant(1)
        row = self.index(self.i("muli", self.half, 64))
        c0 = self.index(0)
        b_place = ", ".join([c0] * (3 if self.layout == "nt" else 4))
        leading = 16 if self.layout == "nt" else 8192
        da = self.value(
            f"cute_nvgpu.wgmma.descriptor %a[{c0}, {row}, {c0}] swizzle_128b leading 16 "
            f"stride 1024 : {A_BUF}"
        )
        db = self.value(
            f"cute_nvgpu.wgmma.descriptor %b[{b_place}] swizzle_128b leading {leading} "
            f"stride 1024 : {self.b_buf}"
        )
        self.epilogue_places()
        self.tiles("%p:2", f"%s0 = {zero}, %ph0 = %false", "i32, i1")
        m, n = self.tile_at("%tile")
        self.open(
            f"%q:4 = scf.for unsigned %k = {zero} to {self.k_tiles} step {one} iter_args("
            f"%acc = %zeros, %s = %s0, %ph = %ph0, %before = {zero}) "
            f"-> ({ACC}, i32, i1, i32) : i32 {{"
        )
        self.multiply(da, db)
        self.close()
        self.line(f"%sums = cute_nvgpu.wgmma.wait 0, %q#0 : {ACC}")
        self.release("%q#3")
        self.send(m, n)
        self.line("scf.yield %q#1, %q#2 : i32, i1")
        self.close()
        self.open(f"scf.if {self.sender} {{")
        self.line("cute_nvgpu.tma.wait 0")
        if self.plain:
            # All copies that followed the maps are done.
            self.line(f"cute_nvgpu.slot.release %slots[{self.slot}, {self.index(LOCK)}] : {SLOTS}")
        self.close()

    def multiply(self, da: str, db: str) -> None:
        def moved(descriptor: str, size: int) -> str:
            offset = self.value(f"arith.extui {self.i('muli', '%s', size >> 4)} : i32 to i64")
            return self.i("addi", descriptor, offset, "i64")

        a, b = moved(da, 128 * 64 * 2), moved(db, 256 * 64 * 2)
        later = self.compare("ne", "%k", 0)
        self.wait("%full", self.index("%s"), "%ph")
        self.line(f"%ready = cute_nvgpu.wgmma.fence(%acc : {ACC})")
        by, flags = ("2, 2", "") if self.layout == "nt" else ("2, 128", " {transpose_b}")
        self.line(
            f"%issued = cute_nvgpu.wgmma.issue {a}, {b}, %ready accumulate {later} steps 4 "
            f"by {by}{flags} : bf16, bf16, i64, {ACC}"
        )
        self.line("cute_nvgpu.wgmma.commit")
        self.line(f"%waited = cute_nvgpu.wgmma.wait 1, %issued : {ACC}")
        self.open(f"scf.if {later} {{")
        self.release("%before")
        self.close()
        after, phase = self.advance("%s", "%ph")
        self.line(f"scf.yield %waited, {after}, {phase}, %s : {ACC}, i32, i1, i32")

    def epilogue_places(self) -> None:
        """Where a lane writes rows of fragments, swizzled as the copy of C expects them."""
        warp = self.i("shli", self.i("andi", self.warp, 3), 4)
        self.row = self.index(self.i("addi", warp, self.i("andi", self.lane, 15)))
        low, high = self.i("andi", self.lane, 7), self.i("shrui", self.lane, 4)
        self.columns = [
            self.index(self.i("shli", self.i("xori", self.i("addi", high, 2 * j), low), 3))
            for j in range(4)
        ]
        self.buffer = self.index(self.half)
        self.barrier = self.i("addi", self.half, 1)
        self.sender = self.compare("eq", self.i("andi", self.tid, 127), 0)

    def send(self, m: str, n: str) -> None:
        """C in four parts of 64 columns, through two buffers."""
        first = self.index(self.i("addi", m, self.i("shli", self.half, 6)))
        sync = f"cute_nvgpu.named_barrier.sync {self.barrier}, {self.constant(128)}"
        c0 = self.index(0)
        for part in range(4):
            side = self.index(part % 2)
            self.open(f"scf.if {self.sender} {{")
            self.line("cute_nvgpu.tma.wait 1 read")
            self.close()
            self.line(sync)
            for j, column in enumerate(self.columns):
                place = f"%c[{self.buffer}, {side}, {self.row}, {column}]"
                self.line(
                    f"cute_nvgpu.stmatrix {self.fragments(32 * part + 8 * j)}, {place} : "
                    f"vector<4x2xbf16>, {C_BUF}"
                )
            self.line("cute_nvgpu.fence.proxy_async shared_cta")
            self.line(sync)
            self.open(f"scf.if {self.sender} {{")
            column = self.index(self.i("addi", n, 64 * part))
            self.line(
                f"cute_nvgpu.tma.store %c[{self.buffer}, {side}, {c0}, {c0}] to "
                f"{self.tc}[{first}, {column}] : {C_BUF} to {self.map_c}"
            )
            self.line("cute_nvgpu.tma.commit")
            self.close()

    def fragments(self, start: int) -> str:
        part = self.value(
            f"vector.extract_strided_slice %sums {{offsets = [{start}], sizes = [8], "
            f"strides = [1]}} : {ACC} to vector<8xf32>"
        )
        half = self.value(f"arith.truncf {part} : vector<8xf32> to vector<8xbf16>")
        return self.value(f"vector.shape_cast {half} : vector<8xbf16> to vector<4x2xbf16>")

    def text(self) -> str:
        self.ta, self.tb, self.tc = "%ta", "%tb", "%tc"
        self.prologue()
        self.open(f"scf.if {self.compare('eq', self.group, 0)} {{")
        self.produce()
        self.otherwise()
        self.consume()
        self.close()
        if self.cluster > 1:
            # Nobody leaves while another may still write or arrive here.
            self.line("cute_nvgpu.cluster.arrive")
            self.line("cute_nvgpu.cluster.wait")
        self.line("gpu.return")
        return "\n".join([*self.head(), *self.lines, "    }", "  }", "}", ""])

    def head(self) -> list[str]:
        maps = f"%ta: {self.map_a}, %tb: {self.map_b}, %tc: {self.map_c}"
        arguments = "%A: i64, %B: i64, %C: i64" if self.plain else maps
        buffers = [
            f"%a: {A_BUF} {{llvm.align = 1024 : i64}}",
            f"%b: {self.b_buf} {{llvm.align = 1024 : i64}}",
            f"%c: {C_BUF} {{llvm.align = 1024 : i64}}",
        ]
        if self.plain:
            buffers += [
                f"%maps: {MAPS} {{llvm.align = 128 : i64}}",
                f"%mine: memref<1xi32, {SPACE}>",
            ]
        sizes = "known_block_size = array<i32: 384, 1, 1>"
        if self.cluster > 1:
            sizes += f", known_cluster_size = array<i32: {self.cluster}, 1, 1>"
        slots = f"    memref.global @tm_slots : {SLOTS} = dense<0> {{alignment = 128 : i64}}"
        return [
            "module {",
            "  gpu.module @gemm {",
            *([slots] if self.plain else []),
            f"    gpu.func @gemm({arguments}, %M: i32, %N: i32, %K: i32) "
            f"workgroup({', '.join(buffers)}) kernel attributes {{{sizes}}} {{",
            "      %true = arith.constant true",
            "      %false = arith.constant false",
            f"      %zeros = arith.constant dense<0.0> : {ACC}",
            *[f"      {line}" for line in self.constants.values()],
        ]


def map_indices(kernel: Kernel, place: list[str | int]) -> list[str]:
    return [kernel.index(part) for part in place]


def hopper_gemm(
    layout: str = "nt", cluster: int = 1, plain: bool = False, persistent: bool = True
) -> str:
    """The text of a module with one kernel, `@gemm`."""
    return Kernel(layout, cluster, plain, persistent).text()
