"""The fixed sentences that the assistant says in its own words, in each shipped language."""

from typing import Literal

Phrase = Literal[
    "nothing_found",
    "not_in_documents",
    "looked_for",
    "incomplete",
    "fallback",
    "excerpt",
    "failed",
    "no_speech",
]

_PHRASES: dict[str, dict[Phrase, str]] = {
    "en": {
        "nothing_found": "I found nothing about that in your documents.",
        "not_in_documents": "I could not find that in your documents.",
        "looked_for": "I looked for {queries}.",
        "incomplete": "That is as far as I got.",
        "fallback": "I could not finish the answer; what I found is on the screen.",
        "excerpt": "Excerpt from the documents, not a verified answer:",
        "failed": "Sorry, something went wrong. Please ask again.",
        "no_speech": "I did not hear a question.",
    },
    "de": {
        "nothing_found": "Dazu habe ich in deinen Dokumenten nichts gefunden.",
        "not_in_documents": "Das konnte ich in deinen Dokumenten nicht finden.",
        "looked_for": "Gesucht habe ich nach {queries}.",
        "incomplete": "Weiter bin ich nicht gekommen.",
        "fallback": "Ich konnte nicht fertig antworten; der Fund steht auf dem Bildschirm.",
        "excerpt": "Auszug aus den Dokumenten, keine geprüfte Antwort:",
        "failed": "Da ist etwas schiefgegangen. Bitte frag noch einmal.",
        "no_speech": "Ich habe keine Frage gehört.",
    },
    "es": {
        "nothing_found": "No he encontrado nada sobre eso en tus documentos.",
        "not_in_documents": "No he podido encontrar eso en tus documentos.",
        "looked_for": "He buscado {queries}.",
        "incomplete": "Hasta ahí he llegado.",
        "fallback": "No he podido terminar la respuesta; lo que encontré está en la pantalla.",
        "excerpt": "Extracto de los documentos, no es una respuesta verificada:",
        "failed": "Algo ha salido mal. Pregunta otra vez, por favor.",
        "no_speech": "No he oído ninguna pregunta.",
    },
    "fr": {
        "nothing_found": "Je n'ai rien trouvé à ce sujet dans vos documents.",
        "not_in_documents": "Je n'ai pas pu trouver cela dans vos documents.",
        "looked_for": "J'ai cherché {queries}.",
        "incomplete": "Je n'ai pas pu aller plus loin.",
        "fallback": "Je n'ai pas pu finir la réponse ; ce que j'ai trouvé est à l'écran.",
        "excerpt": "Extrait des documents, réponse non vérifiée :",
        "failed": "Quelque chose n'a pas marché. Posez la question à nouveau.",
        "no_speech": "Je n'ai pas entendu de question.",
    },
}

LANGUAGES = tuple(_PHRASES)


def phrase(name: Phrase, language: str, **values: str) -> str:
    """Return the sentence ``name`` in ``language``, in English where there is none in it."""
    return _PHRASES.get(language, _PHRASES["en"])[name].format(**values)
