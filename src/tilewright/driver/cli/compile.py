"""`tilewright compile`: lower a program to any stage of the pipeline, down to a cubin."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.driver.cache import cached
from tilewright.driver.cli.options import (
    INSTRUMENT_OPTIONS,
    OPT_LEVELS,
    SANITIZE,
    SCHEDULE,
    Command,
    Option,
    output,
    parse_timeout,
)
from tilewright.driver.cli.results import (
    KEPT,
    UNCACHED,
    ignores_records,
    resource_table,
    result_of,
    show_all_remarks,
    show_remarks,
    warn,
)
from tilewright.driver.files import read_source, write_output
from tilewright.driver.pipelines import STAGES
from tilewright.driver.schedules import parse_schedule
from tilewright.driver.settings import Settings
from tilewright.driver.tuning.lookup import Tuned, compile_tuned, tuned
from tilewright.support.tensor_map_parameters import ENCODERS, KERNEL
from tilewright.target.arch import ARCHES, find_arch

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments
    from tilewright.driver.compilation_result import CompilationResult
    from tilewright.support.location import Location
    from tilewright.support.remarks import Remark
    from tilewright.target.arch import Arch

SUFFIXES: Final = {".ll": "llvm", ".ptx": "ptx", ".cubin": "cubin", ".sass": "sass"}
"""The stage implied by the suffix of the output."""

REPORTS: Final = ("remarks", "resources")
"""Options that print something beside the cubin."""

TENSOR_MAPS: Final = Option(
    "--tensor-maps",
    choices=ENCODERS,
    default=KERNEL,
    help="what encodes tensor maps: the kernel (default), for any launcher; or the launcher, which "
    "passes them as parameters after the arguments, as tilewright.launch does",
)
"""An option of `compile` and `tune`."""

TIMEOUT: Final = Option(
    "--timeout",
    metavar="SECONDS",
    help="stop LLVM, and ptxas, if one takes longer (default: 600 for LLVM, no limit for ptxas)",
)

COMMAND: Final = Command(
    "compile",
    "Compile a program for a GPU: Tile IR, text of any level below it, LLVM IR or PTX.",
    "Tile IR text or bytecode, text of nv_tileaa, nv_tileas, gpu, nvgpu, nvvm or llvm, LLVM IR, "
    "PTX, or CUDA Tile C++ (FILE.cu, which nvcc compiles to bytecode)",
    (
        output("the result"),
        Option(
            "--emit",
            choices=STAGES,
            help="the stage to stop at (default: that of the suffix of -o; without one, cubin)",
        ),
        Option(
            "--arch",
            metavar="GPU",
            default="sm_90",
            help=f"the GPU to compile for (default: sm_90): {', '.join(ARCHES)}",
        ),
        Option("-O", choices=OPT_LEVELS, default="3", help="optimization level (default: 3)"),
        Option("-g", "--line-info", help="emit line information for profilers"),
        Option("--device-debug", help="emit full debug information for a debugger, with -O0"),
        SANITIZE,
        SCHEDULE,
        TENSOR_MAPS,
        Option(
            "--remarks",
            help="print what the compiler decided, why, and what to change, to standard error; "
            "`tilewright remarks ID` explains each",
        ),
        Option("--resources", help="print the resources of each kernel to standard error"),
        Option("-j", "--jobs", metavar="N", help="how many files at once (default: all cores)"),
        TIMEOUT,
        Option("--no-cache", help="use neither the compilation cache nor tuning records"),
        Option("--no-tuned", help="ignore what `tilewright tune` has chosen for the program"),
        *INSTRUMENT_OPTIONS,
    ),
    "examples:\n"
    "  tilewright compile kernel.mlir -o kernel.cubin --arch sm_90 --resources\n"
    "  tilewright compile kernel.mlir --remarks\n"
    "  tilewright compile kernel.mlir --emit nvvm --verify-each\n"
    "  tilewright compile kernel.mlir -o kernel.ptx --timing\n"
    "  tilewright compile kernels/*.tileirbc -o cubins --jobs 8\n"
    "  tilewright compile kernel.cu -o kernel.ptx\n"
    "  tilewright compile kernel.ptx -o kernel.cubin\n\n"
    "Several files go to the folder that -o names, each under its own name; those that fail are\n"
    "reported, and the others are compiled. The exit code is then the highest one of a file.\n"
    "`--emit sass` needs nvdisasm (package nvidia-cuda-nvdisasm); --line-info adds source lines.",
    many=True,
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    stage = _stage(arguments)
    settings = _settings(arguments)
    if arguments.flag("resources") and stage != "cubin":
        COMMAND.fail(f"option '--resources': expected a cubin to be made, found '{stage}'")
    if len(arguments.files) > 1 or names_folder(arguments["output"]):
        # Modules for worker processes are loaded only here.
        from tilewright.driver.cli.compile_many import run_many  # noqa: PLC0415

        return run_many(COMMAND, arguments, settings, stage)
    only_reports = _wants_only_reports(arguments, stage)
    data, name = read_source(arguments.file, settings.arch.name, device_debug=settings.device_debug)
    choice = Tuned(settings) if ignores_records(arguments) else tuned(settings, data, name)

    def attempt(settings: Settings) -> _Compiled:
        def make() -> _Compiled:
            return _compiled(arguments, data, name, settings, stage)

        if stage not in KEPT or any(map(arguments.flag, ("no-cache", *UNCACHED))):
            return make()
        if arguments.flag("remarks"):
            from tilewright.driver.remarks import cached_remarks  # noqa: PLC0415

            made, remarks = cached_remarks(
                data, name, settings, stage, lambda: make().with_remarks, warn
            )
            return _Compiled(result_of(made), made, remarks)
        made = cached(data, name, settings, stage, lambda: make().made, warn)
        return _Compiled(result_of(made), made)

    (result, made, remarks), choice = compile_tuned(choice, attempt)
    if arguments.flag("remarks"):
        show_all_remarks([*choice.remarks, *remarks], made.remarks)
    else:
        show_remarks([*choice.diagnostics, *made.remarks])
    if arguments.flag("resources"):
        print(resource_table(list(made.entries.values())), file=sys.stderr)
    if not only_reports:
        write_output(arguments["output"], result)
    return 0


def _wants_only_reports(arguments: Arguments, stage: str) -> bool:
    """Whether the output would be a cubin on a terminal, and reports are asked for."""
    if stage != "cubin" or arguments["output"] != "-" or not sys.stdout.isatty():
        return False
    if not any(map(arguments.flag, REPORTS)):
        COMMAND.fail(
            "a cubin does not go to a terminal: give -o FILE, pipe the output, or ask for "
            "--remarks or --resources alone"
        )
    return True


class _Compiled(NamedTuple):
    """The bytes of a stage, the cacheable result, and the remarks if they are asked for."""

    output: bytes
    made: CompilationResult
    remarks: list[Remark] = []  # noqa: RUF012 - never changed

    @property
    def with_remarks(self) -> tuple[CompilationResult, list[Remark]]:
        """What the cache keeps."""
        return self.made, self.remarks


def names_folder(path: str) -> bool:
    """Whether a path ends with a separator or is a folder."""
    return path.endswith(("/", os.sep)) or os.path.isdir(path)


def _compiled(
    arguments: Arguments, data: bytes, name: str, settings: Settings, stage: str
) -> _Compiled:
    """Compile to a stage. Loads the compiler."""
    from tilewright.driver.api import read_level  # noqa: PLC0415
    from tilewright.driver.back_end import BackEnd, Observers  # noqa: PLC0415
    from tilewright.driver.cli.instruments import PassWatch, report  # noqa: PLC0415
    from tilewright.driver.compile import Compilation  # noqa: PLC0415
    from tilewright.driver.compile_remarks import (  # noqa: PLC0415
        collected_remarks,
        entry_locations,
    )
    from tilewright.driver.emitted_input import EmittedCompilation, read_emitted  # noqa: PLC0415
    from tilewright.ir.verifier import verify  # noqa: PLC0415

    watch = PassWatch(COMMAND, arguments)
    wants_remarks = arguments.flag("remarks")
    observers = Observers(watch.instruments, watch.clock, remarks=wants_remarks)
    emitted = read_emitted(data, name)
    locations: dict[str, Location] = {}
    compilation: BackEnd
    if emitted is not None:
        compilation = EmittedCompilation(emitted, settings, observers)
    else:
        with observers.clock.measure("read"):
            module = read_level(data, name)
        with observers.clock.measure("verify"):
            observers.sink.diagnostics += verify(module)
        locations = entry_locations(module)
        compilation = program = Compilation(
            module, settings, observers, source=lambda: read_level(data, name)
        )
        watch.show_pipeline(lambda: program.pipeline_to(stage))
    try:
        made = compilation.dumped_to(stage)
    except BaseException:
        report(observers.sink)
        raise
    watch.report(observers.sink)
    output = made if isinstance(made, bytes) else made.encode()
    remarks = collected_remarks(compilation, locations) if wants_remarks else []
    return _Compiled(output, compilation.result(), remarks)


def _settings(arguments: Arguments) -> Settings:
    return Settings(
        _arch(arguments),
        int(arguments["O"]),
        line_info=arguments.flag("line-info"),
        device_debug=arguments.flag("device-debug"),
        sanitize=bool(arguments["sanitize"]),
        schedule=parse_schedule(arguments["schedule"]),
        tensor_maps=arguments["tensor-maps"],
        timeout=parse_timeout(COMMAND, arguments),
    )


def _stage(arguments: Arguments) -> str:
    """Return the stage to emit: `--emit`, or the suffix of the output."""
    path = arguments["output"]
    suffix = os.path.splitext(path)[1]
    many = len(arguments.files) > 1 or names_folder(path)
    if arguments["emit"] or many or not suffix:
        return arguments["emit"] or "cubin"
    if suffix not in SUFFIXES:
        known = ", ".join(f"{suffix} ({stage})" for suffix, stage in SUFFIXES.items())
        COMMAND.fail(
            f"option '-o': expected a suffix that names what to write, one of {known}, or --emit, "
            f"found '{suffix}'"
        )
    return SUFFIXES[suffix]


def _arch(arguments: Arguments) -> Arch:
    arch = find_arch(arguments["arch"])
    if arch is None:
        expected = ", ".join(ARCHES)
        COMMAND.fail(f"option '--arch': expected one of {expected}, found '{arguments['arch']}'")
    return arch
