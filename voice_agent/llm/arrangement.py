"""How an exchange is put to a chat template, so that nothing of it is lost.

Templates differ in what they can show: some forget tool results unless the calls stand before them
in their own form, some have no tools at all, some no system prompt, and they refuse or leave out
what they do not know. So each template is tried on a small exchange, in these ways one after
another, and the first way that shows all of it is taken.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from voice_agent.llm.model import Call, Message, ToolSpec


@dataclass(frozen=True)
class Arrangement:
    """One way. ``calls_written``: the template writes calls itself, from their names and arguments.

    Else the model's own tokens stand for them, which keeps the processed prefix.
    ``results_by_user``: what tools found is told by the user; ``system_by_user``: so is what the
    system prompt says. ``null_tools``: where there are no tools the template is told so.
    """

    calls_written: bool = False
    results_by_user: bool = False
    system_by_user: bool = False
    null_tools: bool = True

    def of(self, messages: Iterable[Message]) -> list[Message]:
        """Return ``messages`` in this way; neighbours that become one role's are joined."""
        arranged: list[Message] = []
        for message in map(self._recast, messages):
            last = arranged[-1] if arranged else None
            joined = self.results_by_user or self.system_by_user
            if joined and last and last.role == message.role == "user":
                content = f"{last.content}\n\n{message.content}"
                arranged[-1] = replace(last, content=content)
            else:
                arranged.append(message)
        return arranged

    def _recast(self, message: Message) -> Message:
        if message.role == "system" and self.system_by_user:
            return Message("user", message.content)
        if message.role == "tool" and self.results_by_user:
            return Message("user", message.content)
        if message.calls and self.results_by_user and not message.generated:
            written = "\n".join(filter(None, (message.content, *(c.raw for c in message.calls))))
            return Message("assistant", written)
        if message.calls and self.calls_written:
            return replace(message, generated=())
        return message


ARRANGEMENTS = tuple(
    Arrangement(**{name: True for name in names}, null_tools=null_tools)
    for names in (
        (),
        ("calls_written",),
        ("results_by_user",),
        ("results_by_user", "system_by_user"),
    )
    for null_tools in (True, False)
)
"""The ways, in the order in which they are tried: the one that keeps most of the prefix first."""

TOOL = ToolSpec(
    "look",
    "Looks something up.",
    {
        "type": "object",
        "properties": {"what": {"type": "string", "description": "what to look up"}},
        "required": ["what"],
    },
)


def trial(calls: int) -> Sequence[Message]:
    """Return an exchange with two rounds of ``calls`` calls each, and a last word of the user."""
    messages = [Message("system", "system"), Message("user", "asked")]
    for n in range(2):
        proposed = tuple(Call(f"{n}.{i}", TOOL.name, {"what": f"{i}"}, "") for i in range(calls))
        messages.append(Message("assistant", "", calls=proposed, generated=(n,)))
        messages += [Message("tool", "found", call_id=c.id, name=c.name) for c in proposed]
    return messages
