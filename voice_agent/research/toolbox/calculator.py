"""The tool that calculates: numbers, the usual operators and a few functions, nothing else."""

import ast
import math
import operator
import re
from collections.abc import Callable
from typing import Any

import simpleeval  # type: ignore[import-untyped]  # the package has no types

from voice_agent.engine import StopFlag
from voice_agent.errors import ToolError
from voice_agent.llm.model import ToolSpec
from voice_agent.research.tools import ToolOutput

CALCULATOR = "calculator"

MAX_CHARS = 200
MAX_DIGITS = 300
"""Digits that a whole number on the way to the result may have."""

_ALLOWED = re.compile(r"[\w\s.,+\-*/%()^×÷−·]*")
_WRITTEN = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "^": "**"})
_MAX_BITS = MAX_DIGITS * 10 // 3
Number = int | float


class Calculator:
    """Works out an arithmetic expression."""

    spec = ToolSpec(
        CALCULATOR,
        "Calculate, for example 19.5*(3+4)/2.",
        {
            "type": "object",
            "properties": {"expression": {"type": "string"}},
            "required": ["expression"],
            "additionalProperties": False,
        },
    )
    writes = False
    time_limit_s = 1.0

    async def run(self, arguments: dict[str, Any], *, question: str, stop: StopFlag) -> ToolOutput:
        """Return the value of ``arguments["expression"]``; raises ToolError where it has none."""
        expression = str(arguments["expression"]).strip()
        return ToolOutput(f"{expression} = {calculate(expression)}")


def calculate(expression: str) -> str:
    """Return the value of ``expression`` in digits.

    Raises ToolError that says what is wrong: it is too long or too large, or no arithmetic.
    """
    if len(expression) > MAX_CHARS:
        raise ToolError(f"The expression has over {MAX_CHARS} characters.")
    if not _ALLOWED.fullmatch(expression):
        raise ToolError(f"Only numbers, + - * / % ** ( ) and {', '.join(_FUNCTIONS)} are known.")
    evaluator = simpleeval.SimpleEval(operators=_OPERATORS, functions=_FUNCTIONS, names={})
    try:
        parsed = ast.parse(expression.translate(_WRITTEN), mode="eval")
        return _digits(evaluator.eval(expression, previously_parsed=parsed.body))
    except ZeroDivisionError as error:
        raise ToolError("That divides by zero.") from error
    except (ArithmeticError, MemoryError, RecursionError) as error:
        raise ToolError("That number is too large.") from error
    except simpleeval.InvalidExpression as error:
        raise ToolError(f"{error}.") from error
    except (SyntaxError, TypeError, ValueError) as error:
        raise ToolError(f"{expression!r} is no arithmetic expression: {error}.") from error


def _bounded(work: Callable[..., Any]) -> Callable[..., Any]:
    """``work`` on numbers only, whose result is a number of bounded size."""

    def calculated(*numbers: Any) -> Any:
        if not all(_is_number(number) for number in numbers):
            raise TypeError("only numbers can be calculated with")
        result = work(*numbers)
        if not _is_number(result):
            raise ValueError("the result is no real number")
        if isinstance(result, int) and result.bit_length() > _MAX_BITS:
            raise OverflowError
        if isinstance(result, float) and not math.isfinite(result):
            raise OverflowError
        return result

    return calculated


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _power(base: Number, exponent: Number) -> Any:
    """``base ** exponent``, refused before it is worked out where it would be huge."""
    if isinstance(base, int) and base.bit_length() * abs(exponent) > _MAX_BITS:
        raise OverflowError
    return base**exponent


def _rounded(number: Number, digits: int = 0) -> Number:
    return round(number, digits) if digits else round(number)


_OPERATORS = {
    ast.Add: _bounded(operator.add),
    ast.Sub: _bounded(operator.sub),
    ast.Mult: _bounded(operator.mul),
    ast.Div: _bounded(operator.truediv),
    ast.FloorDiv: _bounded(operator.floordiv),
    ast.Mod: _bounded(operator.mod),
    ast.Pow: _bounded(_power),
    ast.USub: _bounded(operator.neg),
    ast.UAdd: _bounded(operator.pos),
}
_FUNCTIONS = {
    "sqrt": _bounded(math.sqrt),
    "abs": _bounded(abs),
    "round": _bounded(_rounded),
    "min": _bounded(min),
    "max": _bounded(max),
}


def _digits(value: object) -> str:
    if not isinstance(value, int | float) or not _is_number(value):
        raise ToolError("The result is no number.")
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise OverflowError
    return str(value) if isinstance(value, int) else f"{value:.12g}"
