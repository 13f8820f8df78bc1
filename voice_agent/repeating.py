"""The last answer once more, for a question that asks for nothing else."""

import re

_PLEASE = {"please", "bitte", "por", "favor", "s'il", "te", "vous", "plaît", "jarvis", "hey"}
_ASKING = {
    "repeat",
    "repeat it",
    "repeat that",
    "repeat the answer",
    "repeat the last answer",
    "repeat your answer",
    "can you repeat that",
    "could you repeat that",
    "can you say that again",
    "could you say that again",
    "say it again",
    "say that again",
    "say that once more",
    "again",
    "once more",
    "pardon",
    "what did you say",
    "wiederhole das",
    "wiederhole die antwort",
    "sag das noch einmal",
    "sag das noch mal",
    "sag das nochmal",
    "kannst du das wiederholen",
    "noch einmal",
    "noch mal",
    "nochmal",
    "wie",
    "repite",
    "repite eso",
    "repítelo",
    "repite la respuesta",
    "puedes repetirlo",
    "dilo otra vez",
    "otra vez",
    "répète",
    "répète ça",
    "répétez",
    "répète la réponse",
    "tu peux répéter",
    "peux-tu répéter",
    "redis-le",
    "redis ça",
    "encore une fois",
}


def asks_to_repeat(question: str) -> bool:
    """Return whether ``question``, in any shipped language, only asks for the last answer again."""
    words = re.findall(r"[\w'’-]+", question.lower().replace("’", "'"))
    return " ".join(word for word in words if word not in _PLEASE) in _ASKING
