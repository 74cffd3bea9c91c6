"""Parse the command line of `tileiras`, with the options and defaults of NVIDIA's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.driver.tool_options import HELP, Option, Takes, ToolLine, complain, integer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

TOOL: Final = "tileiras"
TITLE: Final = "tileiras: Tile IR compiler of Tilewright"
USAGE: Final = "tileiras [options] <tile bytecode file>"

GPUS: Final = (
    "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90",
    "sm_100", "sm_103", "sm_107", "sm_110", "sm_120", "sm_121",
)  # fmt: skip
"""The targets of NVIDIA's compiler. A test compares them with `target.arch`, which parsing a
command line does not load."""

OPT_LEVELS: Final = range(4)
KINDS: Final = ("passed", "missed", "failed", "analysis")
"""The kinds of remarks."""
CATEGORIES: Final = {
    "none": "No remarks",
    "all": "All remarks",
    "memory": "Loads and stores",
    "tensorcore": "Dots",
}
COMMAND_LINE, YAML = "command-line", "yaml"
IGNORED: Final = "Accepted without effect: there is no host code"

GPU: Final = Option(
    "gpu-name",
    Takes.CHOICE,
    "The GPU to compile for; there is no default",
    {gpu: gpu.upper().replace("_", " ") for gpu in GPUS},
)
LEVEL: Final = Option(
    "opt-level", Takes.NUMBER, "How much to optimize, from 0 to 3 (default: 3)", value_name="N"
)
DEVICE_DEBUG: Final = Option(
    "device-debug", Takes.FLAG, "Keep lines and variables for debuggers; needs -O0"
)
LINE_INFO: Final = Option("lineinfo", Takes.FLAG, "Keep the lines of the source for profilers")
OUTPUT: Final = Option(
    "output-file", Takes.TEXT, "The cubin (default: elf.o; -: standard output)", value_name="file"
)
SANITIZE: Final = Option(
    "sanitize",
    Takes.CHOICE,
    "Check accesses at run time",
    {"memcheck": "Every access of global memory against its view"},
)
FORMAT: Final = Option(
    "remark-format",
    Takes.CHOICE,
    "Where remarks go (default: command-line)",
    {COMMAND_LINE: "To standard output", YAML: "To a file, as YAML"},
)
REMARKS: Final = Option(
    "remarks", Takes.CHOICE, "Report decisions of the compiler (default: none)", CATEGORIES
)
REMARKS_FILE: Final = Option(
    "remarks-output-file",
    Takes.TEXT,
    "The file of YAML remarks (default: tileir_remarks.yaml)",
    value_name="file",
)
NO_WARNINGS: Final = Option("w", Takes.FLAG, "Print no warnings")
WARNINGS_AS_ERRORS: Final = Option(
    "Werror", Takes.FLAG, "A warning about the program is an error, unless -w"
)
HOST_ARCH: Final = Option(
    "host-arch", Takes.CHOICE, IGNORED, {name: name for name in ("x86_64", "aarch64")}
)
HOST_OS: Final = Option(
    "host-os", Takes.CHOICE, IGNORED, {name: name for name in ("linux", "windows")}
)
LIST_VERSIONS: Final = Option(
    "list-versions", Takes.NOTHING, "The versions of Tile IR bytecode that can be read"
)
PREVIEW: Final = Option(
    "preview",
    Takes.TEXT,
    "Reported as unsupported: calls of foreign functions",
    value_name="feature",
)
LIBRARY: Final = Option(
    "l", Takes.TEXT, "Reported as unsupported: foreign functions", value_name="file"
)


def _by_name(*options: Option) -> dict[str, Option]:
    return {option.name: option for option in options}


GROUPS: Final[Mapping[str, Mapping[str, Option]]] = {
    "Compiler Options": {
        "O": LEVEL._replace(attached=True),
        "g": DEVICE_DEBUG,
        "arch": GPU,
        "o": OUTPUT,
        **_by_name(GPU, LEVEL, DEVICE_DEBUG, LINE_INFO, OUTPUT, SANITIZE),
        **_by_name(NO_WARNINGS, WARNINGS_AS_ERRORS, HOST_ARCH, HOST_OS, LIST_VERSIONS),
        **_by_name(PREVIEW, LIBRARY),
    },
    "Remark Options": {
        **_by_name(FORMAT, REMARKS, REMARKS_FILE),
        **_by_name(
            *(
                Option(
                    f"remarks-{kind}", Takes.CHOICE, f"As --remarks, for {kind} ones", CATEGORIES
                )
                for kind in KINDS
            )
        ),
    },
}
OPTIONS: Final = {name: option for group in GROUPS.values() for name, option in group.items()}

NOTES: Final = """\
@<file> stands for the arguments in that file.

Exit codes: 0 done, 1 the command line or the input file cannot be used, 2 the options do not fit
or the output cannot be written, 3 the input is not valid Tile IR bytecode, 5 compilation failed"""


def help_text(question: str = HELP.name) -> str:
    """Describe the options, for `--help` or `--help-list`."""
    # Loaded only on request.
    from tilewright.driver import option_help  # noqa: PLC0415

    return option_help.help_text(question, TITLE, USAGE, GROUPS, NOTES)


class RemarkOptions(NamedTuple):
    """The requested remarks, their format and output file."""

    categories: dict[str, str]
    """The requested category of each kind."""
    form: str
    file: str

    @property
    def wanted(self) -> bool:
        """Whether any remarks are requested."""
        return any(category != "none" for category in self.categories.values())


class Job(NamedTuple):
    """The input, output and options of one compilation."""

    file: str
    output: str
    gpu: str
    opt_level: int
    line_info: bool
    device_debug: bool
    sanitize: bool
    remarks: RemarkOptions
    no_warnings: bool = False
    warnings_as_errors: bool = False
    preview: str = ""
    """A feature under development that the program uses."""
    library: str = ""
    """A library of foreign functions that the program calls."""


def read_job(arguments: Sequence[str], say: Callable[[str], object] = complain) -> Job | None:
    """Parse the command line; None after reporting an error.

    Raises `Asked` if help or the version is requested.
    """
    line = ToolLine(TOOL, OPTIONS, arguments, say)
    if line.wrong:
        return None
    given = line.values
    every = given.get(REMARKS.name, "none")
    remarks = RemarkOptions(
        {kind: given.get(f"remarks-{kind}", every) for kind in KINDS},
        given.get(FORMAT.name, COMMAND_LINE),
        given.get(REMARKS_FILE.name) or "tileir_remarks.yaml",
    )
    return Job(
        line.files[0] if line.files else "",
        given.get(OUTPUT.name, "elf.o"),
        given.get(GPU.name, ""),
        integer(given.get(LEVEL.name, "3")),
        line.flag(LINE_INFO.name),
        line.flag(DEVICE_DEBUG.name),
        SANITIZE.name in given,
        remarks,
        line.flag(NO_WARNINGS.name),
        line.flag(WARNINGS_AS_ERRORS.name),
        given.get(PREVIEW.name, ""),
        given.get(LIBRARY.name, ""),
    )
