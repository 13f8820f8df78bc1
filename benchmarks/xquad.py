"""Right answers over the paragraphs of XQuAD, or honest refusals over those of SQuAD 2.0.

    python benchmarks/xquad.py --data DIR [--n 100] [--skip 0] [--seed 1]
        [--model NAME] [--unanswerable]

The questions are typed and go through the same stages as `voice-agent ask`. DIR is described in
benchmarks/README.md, the rules for a right answer too.
"""

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from voice_agent.bench.figures import QuestionAnswered
from voice_agent.bench.judge import Rule, judge
from voice_agent.bench.questions import Question
from voice_agent.bench.report import line
from voice_agent.bench.run import Bench, open_bench
from voice_agent.bench.squad import (
    drawn,
    judge_gold,
    load_unanswerable,
    load_xquad,
    write_library,
)
from voice_agent.cli.bench import with_model
from voice_agent.cli.signals import caught
from voice_agent.daemon import Wanted
from voice_agent.errors import VoiceAgentError
from voice_agent.places import places
from voice_agent.settings import load_settings

CANCELLED = 130


def main(argv: Sequence[str]) -> int:
    """Run the benchmark; return 0 whatever the share, and 130 when it was interrupted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--n", type=int, default=100, help="how many questions (default: 100)")
    parser.add_argument(
        "--skip", type=int, default=0, help="how many of these to leave out: a run goes on there"
    )
    parser.add_argument("--seed", type=int, default=1, help="which ones are drawn (default: 1)")
    parser.add_argument("--model", metavar="NAME", help="language model of the catalogue")
    parser.add_argument(
        "--unanswerable", action="store_true", help="questions that the paragraphs do not answer"
    )
    args = parser.parse_args(argv)
    try:
        if args.unanswerable:
            found = load_unanswerable(args.data / "squad-unanswerable" / "questions.jsonl")
        else:
            found = load_xquad(args.data / "xquad" / "xquad.en.json")
        with tempfile.TemporaryDirectory(prefix="voice-agent-xquad-") as folder:
            write_library(found[0], Path(folder))
            questions = drawn(found[1], args.n, args.seed)[args.skip :]
            rule = judge if args.unanswerable else judge_gold
            return asyncio.run(ask_all(questions, Path(folder), args.model, rule=rule))
    except VoiceAgentError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return CANCELLED


async def ask_all(
    questions: Sequence[Question], folder: Path, model: str | None, *, rule: Rule
) -> int:
    """Ask the questions over the documents in ``folder``, print each line and the share."""
    settings = with_model(load_settings().settings, model)
    results: list[QuestionAnswered] = []
    async with open_bench(settings, places(), folder, Wanted()) as stages:
        bench = Bench(stages, rule)
        with caught(lambda sent: bench.cancel(sent.name)):
            async for result in bench.results(questions, ["typed"]):
                results.append(result)
                wrong = "" if result.right else f"\n       {result.question}"
                print(line(result) + wrong, flush=True)
    asked, right = len(results), sum(result.right for result in results)
    share = f" ({right / asked:.0%})" if asked else ""
    bases = dict(Counter(result.basis or "failed" for result in results))
    print(f"\n{settings.llm.model}: {right} of {asked} right{share}; {bases}")
    return CANCELLED if bench.interrupted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
