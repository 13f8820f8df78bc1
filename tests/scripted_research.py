"""A research loop with a scripted model and a tool over a few facts, for tests of the loop."""

from typing import Any

from fakes import Clock, Script, ScriptedAsker, ScriptedModel, doing, ended

from voice_agent.engine import StopFlag
from voice_agent.errors import ToolError
from voice_agent.events import Event, Listener, Source, ToolResult
from voice_agent.llm.model import Call, Finished, Likelihood, Message, Request, ToolSpec
from voice_agent.research.answer import AnswerLimits
from voice_agent.research.asking import Asking
from voice_agent.research.budget import Limits
from voice_agent.research.evidence import Finding
from voice_agent.research.loop import Inquiry, Reply, ResearchLoop
from voice_agent.research.permission import Permission, Rules
from voice_agent.research.sections import Section
from voice_agent.research.sufficiency import Sufficiency
from voice_agent.research.toolbox.ask_user import AskUser
from voice_agent.research.tools import Toolbox, ToolOutput

QUESTION = "how high is the boiler pressure"
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
FACTS = {
    "boiler": "the boiler pressure is high at 1.5 bar when it is cold in winter",
    "tyres": "the winter tyres of the car are stored in the garage behind the house",
    "cats": "cats sleep all day long on the sofa and then go out at night",
    QUESTION: "how high is the boiler pressure : it is 1.5 bar says the manual of the house",
}


class Shelf:
    """A tool over `FACTS`; ``meanwhile`` runs while it works.

    ``documents`` names the one in which a query finds its text, else it has the query's name.
    Without ``finds`` what it tells stands in no document, like the time of day; ``more`` is found
    beside it.
    """

    time_limit_s = 5.0

    def __init__(self, name: str = "search", *, writes: bool = False) -> None:
        self.spec = ToolSpec(name, "Looks something up.", SCHEMA)
        self.writes = writes
        self.asked: list[str] = []
        self.texts = dict(FACTS)
        self.documents: dict[str, str] = {}
        self.finds = True
        self.sections: tuple[Section, ...] = ()
        self.more: tuple[str, ...] = ()
        self.meanwhile = doing(int)
        self.stop = StopFlag()

    async def run(self, arguments: dict[str, Any], *, question: str, stop: StopFlag) -> ToolOutput:
        query = arguments["query"]
        self.asked.append(query)
        self.stop = stop
        await self.meanwhile()
        if query == "broken":
            raise ToolError(f"fault number {len(self.asked)} of the index")
        text = self.texts.get(query, "noted" if self.writes else "")
        document = self.documents.get(query, query)
        source = Source(f"{document}.md", document)
        findings = (Finding(text, source),) if text and self.finds else ()
        findings += tuple(Finding(each, source) for each in self.more)
        return ToolOutput(text, findings, self.sections)


class Weigher:
    """Answers "yes" with the given shares, one after another; ``finished`` ends each request."""

    def __init__(self, yes: tuple[float, ...], finished: Finished) -> None:
        self._yes = list(yes)
        self._finished = finished
        self.asked: list[Request] = []

    async def likelihood(self, request: Request, options: tuple[str, ...]) -> Likelihood:
        self.asked.append(request)
        yes = self._yes.pop(0)
        return Likelihood((yes, 1 - yes), self._finished)


class Research:
    """A loop with all its parts, and the events of its one reply."""

    def __init__(self, *replies: Script, prefetch: str | None = None, **limits: Any) -> None:
        self.model = ScriptedModel(*replies, context_tokens=limits.pop("context_tokens", 8192))
        sufficiency: Sufficiency | None = limits.pop("sufficiency", None)
        self.weigher = Weigher((), ended("end"))
        self.clock = Clock()
        self.stop = StopFlag()
        self.events: list[Event] = []
        self.search, self.note = Shelf(), Shelf("note", writes=True)
        self.asker = ScriptedAsker()
        asking = Asking(limits.pop("asker", self.asker), self.clock)
        rules = Rules(limits.pop("confirm_writes", False), limits.pop("in_doubt", {}.get))
        self.question, self.conversation = QUESTION, 1
        self.emit: Listener = self.events.append
        self.history: tuple[Message, ...] = ()
        terms = limits.pop("terms", str.split)
        self.loop = ResearchLoop(
            self.model,
            Toolbox([self.search, self.note, AskUser(asking), *limits.pop("tools", ())]),
            limits=Limits(**({"output_tokens": 64} | limits)),
            answer_limits=AnswerLimits(),
            terms=terms,
            weight=lambda term: 1.0,
            prefetch=prefetch,
            permission=Permission(asking, rules),
            sufficiency=sufficiency,
            clock=self.clock,
        )

    async def reply(self) -> Reply:
        return await self.loop.reply(
            Inquiry(
                self.question,
                7,
                self.stop,
                self.emit,
                history=self.history,
                conversation=self.conversation,
            )
        )

    def put(self, query: str, text: str) -> None:
        """Let the search for ``query`` find ``text``."""
        self.search.texts[query] = text

    def of(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def statuses(self) -> list[str]:
        return [result.status for result in self.of(ToolResult)]


def call(query: str, name: str = "search", id: str = "c1") -> Call:
    return Call(id, name, {"query": query}, raw=f'{name}("{query}")')


def asking_back(question: str, id: str = "c1") -> Call:
    return Call(id, "ask_user", {"question": question}, raw=f'ask_user("{question}")')


def outcome(reply: Reply) -> tuple[str, str]:
    return reply.ending.basis, reply.ending.reason
