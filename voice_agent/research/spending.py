"""What a research request may cost: reserved before it, charged after it, and told."""

from collections.abc import Callable

from voice_agent.errors import Cancelled
from voice_agent.events import Reason, Round
from voice_agent.llm.model import Finished, Model, Request
from voice_agent.research.budget import fits_context
from voice_agent.research.reply import Run


class Spending:
    """Lets a reply's requests through while its budgets last."""

    def __init__(self, model: Model, clock: Callable[[], float]) -> None:
        self._model = model
        self._clock = clock

    def over(self, run: Run) -> Reason | None:
        """Return "time" where it is over; raises Cancelled where the turn was cancelled."""
        if run.inquiry.stop.is_set():
            raise Cancelled("The turn was cancelled.")
        return "time" if run.time.spent(self._clock()) else None

    async def reserve(self, run: Run, request: Request) -> tuple[int, Reason | None]:
        """Set aside what ``request`` may cost, or say which budget does not allow it."""
        over = self.over(run)
        if over is not None:
            return 0, over
        size = await self._model.measure(request)
        if not fits_context(size, request.max_tokens, self._model.context_tokens):
            return 0, "context"
        reserved = run.tokens.reserve(size, request.max_tokens)
        return (0, "tokens") if reserved is None else (reserved, None)

    def settle(self, run: Run, reserved: int, finished: Finished | None) -> None:
        """Charge a request what it used, return the rest of ``reserved``, and tell."""
        used = finished.charged_tokens if finished else 0
        run.tokens.settle(reserved, used)
        if finished is None:
            return
        run.inquiry.emit(
            Round(
                turn=run.inquiry.turn,
                n=run.requests,
                prompt_tokens=finished.prompt_tokens,
                reused_tokens=finished.reused_tokens,
                output_tokens=finished.output_tokens,
                reserved=reserved,
                charged=used,
            )
        )
