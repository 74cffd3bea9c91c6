"""Parse the command line of `tileiras`, with the options and defaults of NVIDIA's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.driver.tool_options import Option, Takes, ToolLine, complain, integer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

TOOL: Final = "tileiras"
TITLE: Final = "tileiras: Tile IR compiler of Tilewright"

GPUS: Final = (
    "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90",
    "sm_100", "sm_103", "sm_107", "sm_110", "sm_120", "sm_121",
)  # fmt: skip
"""The targets of NVIDIA's compiler. A test compares them with `target.arch`, which parsing a
command line does not load."""

OPT_LEVELS: Final = range(4)
KINDS: Final = ("passed", "missed", "failed", "analysis")
"""The kinds of remarks."""
CATEGORIES: Final = ("none", "all", "memory", "tensorcore")
COMMAND_LINE, YAML = "command-line", "yaml"

GPU: Final = Option("gpu-name", Takes.CHOICE, GPUS)
LEVEL: Final = Option("opt-level", Takes.NUMBER)
DEVICE_DEBUG: Final = Option("device-debug", Takes.FLAG)
LINE_INFO: Final = Option("lineinfo", Takes.FLAG)
OUTPUT: Final = Option("output-file", Takes.TEXT)
SANITIZE: Final = Option("sanitize", Takes.CHOICE, ("memcheck",))
FORMAT: Final = Option("remark-format", Takes.CHOICE, (COMMAND_LINE, YAML))
REMARKS: Final = Option("remarks", Takes.CHOICE, CATEGORIES)
REMARKS_FILE: Final = Option("remarks-output-file", Takes.TEXT)
NO_WARNINGS: Final = Option("w", Takes.FLAG)
WARNINGS_AS_ERRORS: Final = Option("Werror", Takes.FLAG)
PREVIEW: Final = Option("preview", Takes.TEXT)
LIBRARY: Final = Option("l", Takes.TEXT)

OPTIONS: Final[Mapping[str, Option]] = {
    "O": LEVEL._replace(attached=True),
    "g": DEVICE_DEBUG,
    "arch": GPU,
    "o": OUTPUT,
    "host-arch": Option("host-arch", Takes.CHOICE, ("x86_64", "aarch64")),
    "host-os": Option("host-os", Takes.CHOICE, ("linux", "windows")),
    "list-versions": Option("list-versions", Takes.NOTHING),
    **{f"remarks-{kind}": Option(f"remarks-{kind}", Takes.CHOICE, CATEGORIES) for kind in KINDS},
    **{
        option.name: option
        for option in (
            GPU, LEVEL, DEVICE_DEBUG, LINE_INFO, OUTPUT, SANITIZE, FORMAT, REMARKS, REMARKS_FILE,
            NO_WARNINGS, WARNINGS_AS_ERRORS, PREVIEW, LIBRARY,
        )
    },
}  # fmt: skip

HELP: Final = f"""\
OVERVIEW: {TITLE}

USAGE: tileiras [options] <tile bytecode file>

OPTIONS:
  --gpu-name=<GPU>           - The GPU to compile for; there is no default
                               ({", ".join(GPUS[:6])},
                               {", ".join(GPUS[6:])})
  --arch=<GPU>               - Alias for --gpu-name
  -o, --output-file=<file>   - Where the cubin goes (default: elf.o; -: standard output)
  -O<N>, --opt-level=<N>     - How much to optimize, from 0 to 3 (default: 3)
  --lineinfo                 - Keep the lines of the source for profilers
  -g, --device-debug         - Keep lines and variables for debuggers; needs -O0
  --sanitize=memcheck        - Check every access of global memory against its view
  --remarks=<category>       - Say what was decided: none, all, memory or tensorcore
  --remarks-<kind>=<category>  the same for one kind: {", ".join(KINDS)}
  --remark-format=<form>     - command-line: to standard output (default); yaml: to a file
  --remarks-output-file=<file> that file (default: tileir_remarks.yaml)
  -w                         - Print no warnings
  --Werror                   - A warning about the program is an error, unless -w
  --list-versions            - The versions of Tile IR bytecode that are understood
  --host-arch=<name>, --host-os=<name>
                             - Taken, and without effect: there is no host code
  --preview=<feature>, -l <library>
                             - Reported as unsupported: calls of foreign functions
  @<file>                    - The arguments that are in that file
  --help                     - This text
  --version                  - The version, and digests of the compiler's own files and its tools

Exit codes: 0 done, 1 the command line or the input file cannot be used, 2 the options do not fit
or the output cannot be written, 3 the input is not valid Tile IR bytecode, 5 compilation failed"""


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
