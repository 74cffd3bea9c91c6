"""`make fuzz`: mutated bytecode and text must end in a module or in a located error, in time.

Mutations start from our own programs, from modules of the corpus, and from programs with chains of
locations, scopes, attributes and types and with print formats (`chain_seeds.py`); those of the kind
`chain` start from a new one of these each. A module is printed, written as bytecode and read again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Final, NamedTuple

from chain_seeds import chain_bytecode, chain_texts, random_chain
from corpus_checks import ARCHIVE, NEWEST, load_modules, load_programs
from mutate import mutate_bytes, mutate_text

from tilewright import Error, Unsupported
from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.versions import PREVIEW
from tilewright.bytecode.writer import write_bytecode
from tilewright.driver.api import read_unverified
from tilewright.driver.disassembly import disassemble
from tilewright.driver.progress import progress
from tilewright.ir.verifier import verify

SECONDS = 2.0
MEMORY: Final = 512 << 20
BATCH: Final = 250
CHAINS: Final = 200
"""Programs with chains among the seeds."""
PLAIN: Final = 0.25
"""The part of new chains that is not mutated."""


class Batch(NamedTuple):
    """A batch of inputs: the kind, the seed, the number."""

    kind: str
    seed: int
    size: int


class Failure(NamedTuple):
    """An input that ended badly."""

    kind: str
    name: str
    why: str
    data: bytes


class TooSlow(Exception):
    """An input took longer than it may."""


def main() -> int:
    """Run the fuzzer; the exit code says whether anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=200_000, help="mutated bytecode files")
    parser.add_argument("--texts", type=int, help="mutated texts (default: half of -n)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-j", "--jobs", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--keep", type=Path, help="folder for the inputs that failed")
    parser.add_argument("--chains", type=int, help="new programs with chains (default: half of -n)")
    options = parser.parse_args()
    chains = options.n // 2 if options.chains is None else options.chains
    texts = options.n // 2 if options.texts is None else options.texts
    counts = {"bytecode": options.n, "text": texts, "chain": chains}
    batches = [each for kind, count in counts.items() for each in plan(kind, count, options.seed)]
    started = time.monotonic()
    outcomes: Counter[str] = Counter()
    failures: list[Failure] = []
    with multiprocessing.Pool(options.jobs, initializer=start_worker) as pool:
        results = pool.imap_unordered(run_batch, batches)
        for counts, failed in progress(results, len(batches)):
            outcomes.update(counts)
            failures += failed
    seconds = time.monotonic() - started
    return report(outcomes, failures, seconds, options.keep)


def plan(kind: str, count: int, seed: int) -> list[Batch]:
    """The batches that make up `count` inputs."""
    starts = range(0, count, BATCH)
    return [Batch(kind, seed * 1_000_003 + at, min(BATCH, count - at)) for at in starts]


class Seeds:
    """The inputs that mutations start from; loaded once in each worker."""

    bytecode: tuple[bytes, ...] = ()
    text: tuple[str, ...] = ()


def start_worker() -> None:
    """Load the seeds and set the limits of this process."""
    load_seeds()
    signal.signal(signal.SIGALRM, stop)
    limit_memory()


def load_seeds() -> None:
    """Load the inputs that mutations start from."""
    modules = [module.data for module in load_programs()]
    if ARCHIVE.exists():
        # Small modules mutate to more different things a second than large ones.
        modules += sorted((m.data for m in load_modules()), key=len)[:1500:4]
    read = [read_bytecode(data, "seed") for data in modules]
    texts = [
        disassemble(module, debug=index % 4 == 0, generic=index % 5 == 0)
        for index, module in enumerate(read)
    ]
    chains = chain_texts(CHAINS)
    written = [*chain_bytecode(chains, NEWEST), *chain_bytecode(chains, PREVIEW)]
    Seeds.bytecode = (*modules, *written)
    Seeds.text = (*texts, *chains)


def limit_memory() -> None:
    """Limit the memory that this process may allocate in addition."""
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + MEMORY, resource.RLIM_INFINITY))


def stop(signum: int, frame: FrameType | None) -> None:
    """End the input that is being tried."""
    raise TooSlow


def run_batch(batch: Batch) -> tuple[Counter[str], list[Failure]]:
    """Try the inputs of a batch."""
    rng = random.Random(batch.seed)
    outcomes: Counter[str] = Counter()
    failures: list[Failure] = []
    for number in range(batch.size):
        source = make_input(batch.kind, rng)
        outcome = try_input(source)
        outcomes[f"{batch.kind}: {outcome.partition(':')[0]}"] += 1
        if outcome.startswith("FAILED"):
            data = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
            failures.append(Failure(batch.kind, f"{batch.seed}-{number}", outcome, data))
    return outcomes, failures


def make_input(kind: str, rng: random.Random) -> bytes | str:
    """A mutated seed."""
    if kind == "bytecode":
        return mutate_bytes(rng.choice(Seeds.bytecode), Seeds.bytecode, rng)
    text = random_chain(rng) if kind == "chain" else rng.choice(Seeds.text)
    # Chains have limits of their own: some are tried as they are.
    return text if kind == "chain" and rng.random() < PLAIN else mutate_text(text, Seeds.text, rng)


def try_input(source: bytes | str) -> str:
    """Try an input; return `module`, the kind of its error, or `FAILED: why`."""
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        module = read_unverified(source, "input")
        verify(module)
        text = disassemble(module, debug=True)
        written = write_bytecode(module, NEWEST)
    except Unsupported:
        return "Unsupported"
    except Error as error:
        return "UserError" if str(error.location) else f"FAILED: no location: {error}"
    except TooSlow:
        return f"FAILED: longer than {SECONDS} s"
    except MemoryError:
        return f"FAILED: more than {MEMORY >> 20} MiB"
    except Exception:
        return f"FAILED: {traceback.format_exc()}"
    else:
        # A module without operations prints as an empty text, as NVIDIA's disassembler has it.
        return read_again(written, *([text] if text.strip() else []))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def read_again(*sources: bytes | str) -> str:
    """Read what was printed and written for a module; return `module` or `FAILED: why`."""
    try:
        for source in sources:
            verify(read_unverified(source, "written"))
    except TooSlow:
        return f"FAILED: longer than {SECONDS} s"
    except Exception:
        return f"FAILED: output that is not read again: {traceback.format_exc()}"
    return "module"


def report(
    outcomes: Counter[str], failures: list[Failure], seconds: float, keep: Path | None
) -> int:
    """Print the counts and the distinct failures."""
    distinct: dict[str, Failure] = {}
    for failure in sorted(failures):
        distinct.setdefault(failure.why.strip().splitlines()[-1][:120], failure)
    for failure in list(distinct.values())[:20]:
        print(f"{failure.kind} {failure.name}: {failure.why}")
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        for failure in failures:
            (keep / f"{failure.kind}-{failure.name}").write_bytes(failure.data)
    print(f"\n{outcomes.total()} inputs in {seconds:.0f} s")
    for outcome, count in sorted(outcomes.items()):
        print(f"  {outcome:<24}{count}")
    print(f"{len(failures)} failures, {len(distinct)} distinct")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
