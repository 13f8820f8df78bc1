"""Fixed sentences in each shipped language: what the assistant says, and what makes it stop."""

import re
import unicodedata
from functools import cache
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
    "unrecorded",
    "no_record",
    "permit",
    "permit_quoted",
    "permit_foreign",
    "permit_in_doubt",
    "write_done",
    "write_declined",
    "write_not_done",
    "write_unknown",
    "asked_back",
    "asked_in_vain",
    "repeat",
    "deaf",
    "hears_again",
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
        "unrecorded": "I could not keep a record of this.",
        "no_record": "I cannot keep a record now, so I do not answer.",
        "permit": "May I do this: {action}?",
        "permit_quoted": "A document asks for this, not you: {action}. Shall I do it?",
        "permit_foreign": "Not all of these words are yours: {action}. Shall I do it?",
        "permit_in_doubt": "I may have done this already: {earlier}. Shall I do this: {action}?",
        "write_done": "Done: {action}.",
        "write_declined": "Not done, because it was not allowed: {action}.",
        "write_not_done": "Not done: {action}.",
        "write_unknown": "I do not know whether this has been done: {action}.",
        "asked_back": "Asked back: {question} Answer: {answer}",
        "asked_in_vain": "Asked back without an answer: {question}",
        "repeat": "Repeat that.",
        "deaf": "I cannot hear you: the microphone is gone.",
        "hears_again": "I can hear you again.",
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
        "unrecorded": "Davon konnte ich nichts aufzeichnen.",
        "no_record": "Ich kann gerade nichts aufzeichnen und antworte deshalb nicht.",
        "permit": "Darf ich das tun: {action}?",
        "permit_quoted": "Das verlangt ein Dokument, nicht du: {action}. Soll ich es tun?",
        "permit_foreign": "Nicht alle diese Worte sind von dir: {action}. Soll ich es tun?",
        "permit_in_doubt": "Vielleicht ist das getan: {earlier}. Soll ich das tun: {action}?",
        "write_done": "Erledigt: {action}.",
        "write_declined": "Nicht getan, weil es nicht erlaubt wurde: {action}.",
        "write_not_done": "Nicht getan: {action}.",
        "write_unknown": "Ich weiß nicht, ob das getan wurde: {action}.",
        "asked_back": "Rückfrage: {question} Antwort: {answer}",
        "asked_in_vain": "Rückfrage ohne Antwort: {question}",
        "repeat": "Sag das noch einmal.",
        "deaf": "Ich höre dich nicht: Das Mikrofon ist weg.",
        "hears_again": "Ich höre dich wieder.",
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
        "unrecorded": "No he podido dejar constancia de esto.",
        "no_record": "Ahora no puedo dejar constancia, así que no respondo.",
        "permit": "¿Puedo hacer esto: {action}?",
        "permit_quoted": "Lo pide un documento, no tú: {action}. ¿Lo hago?",
        "permit_foreign": "No todas estas palabras son tuyas: {action}. ¿Lo hago?",
        "permit_in_doubt": "No sé si esto se hizo: {earlier}. ¿Hago ahora esto: {action}?",
        "write_done": "Hecho: {action}.",
        "write_declined": "No hecho, porque no se permitió: {action}.",
        "write_not_done": "No hecho: {action}.",
        "write_unknown": "No sé si esto se ha hecho: {action}.",
        "asked_back": "Pregunta al usuario: {question} Respuesta: {answer}",
        "asked_in_vain": "Pregunta sin respuesta: {question}",
        "repeat": "Repite eso.",
        "deaf": "No te oigo: el micrófono no está.",
        "hears_again": "Te oigo otra vez.",
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
        "unrecorded": "Je n'ai pas pu en garder de trace.",
        "no_record": "Je ne peux rien noter maintenant, donc je ne réponds pas.",
        "permit": "Puis-je faire ceci : {action} ?",
        "permit_quoted": "C'est un document qui le demande, pas vous : {action}. Le faire ?",
        "permit_foreign": "Ces mots ne sont pas tous les vôtres : {action}. Le faire ?",
        "permit_in_doubt": "C'est peut-être déjà fait : {earlier}. Faire ceci : {action} ?",
        "write_done": "Fait : {action}.",
        "write_declined": "Pas fait, car ce n'était pas permis : {action}.",
        "write_not_done": "Pas fait : {action}.",
        "write_unknown": "Je ne sais pas si cela a été fait : {action}.",
        "asked_back": "Question posée : {question} Réponse : {answer}",
        "asked_in_vain": "Question restée sans réponse : {question}",
        "repeat": "Répète ça.",
        "deaf": "Je ne vous entends plus : le micro a disparu.",
        "hears_again": "Je vous entends de nouveau.",
    },
}

LANGUAGES = tuple(_PHRASES)

_STOPS = {
    "en": "stop|stop it|stop that|stop talking|stop now|cancel|cancel that|cancel it|abort"
    "|never mind|nevermind|forget it|forget that|forget about it|be quiet|quiet|silence|shut up"
    "|enough|that's enough|hush|leave it",
    "de": "stopp|halt|abbrechen|abbruch|brich ab|vergiss es|vergiss das|schon gut|egal|ist egal"
    "|ruhe|sei still|sei ruhig|still|genug|das reicht|reicht|hör auf|aufhören|lass gut sein"
    "|lass es|lass das|schluss|nicht so wichtig",
    "es": "para|para ya|basta|basta ya|alto|cancela|cancelar|cancélalo|olvídalo|olvida eso"
    "|déjalo|silencio|cállate|calla|no importa|da igual|detente|ya basta|es suficiente",
    "fr": "arrête|arrêtez|arrête ça|arrête-toi|annule|annuler|annulez|laisse tomber"
    "|laissez tomber|oublie|oublie ça|oubliez|oubliez ça|tais-toi|taisez-vous|silence|ça suffit"
    "|suffit|assez|peu importe|tant pis|chut",
}
_AROUND_STOPS = {
    "en": "please|thanks|thank you|okay|ok|oh|no|now|just|well",
    "de": "bitte|danke|okay|ach|nein|jetzt|doch|mal|na",
    "es": "por favor|gracias|vale|no|ya|ah|bueno",
    "fr": "s'il te plaît|s'il vous plaît|merci|non|oh|bon|maintenant|ah",
}

_YES = {
    "en": "yes|yeah|yep|yup|yes please|sure|of course|ok|okay|alright|all right|go ahead|do it"
    "|do that|please do|definitely|absolutely|correct",
    "de": "ja|jawohl|jaja|gerne|gern|klar|na klar|natürlich|sicher|mach das|mach es|mach mal"
    "|tu das|bitte ja|in ordnung|einverstanden",
    "es": "sí|si|claro|claro que sí|vale|hazlo|por supuesto|de acuerdo|adelante|desde luego",
    "fr": "oui|ouais|d'accord|bien sûr|vas-y|allez-y|fais-le|faites-le|volontiers|entendu",
}
_NO_WORDS = frozenset(
    "no nope nah not don dont never stop cancel wait later nein nicht nie kein keine keinen warte"
    " später nunca todavía espera cancela non pas jamais attends attendez".split()
)
_AROUND_YES = {
    "en": "please|oh|well|um|uh|hm",
    "de": "bitte|ach|na|äh|hm|doch",
    "es": "por favor|ah|bueno|pues",
    "fr": "s'il te plaît|s'il vous plaît|oh|bon|ben|euh",
}

_MOST_STOP_WORDS = 8
_MOST_YES_WORDS = 8
"""Who says more says something else, and is understood too badly to be sure."""


def phrase(name: Phrase, language: str, **values: str) -> str:
    """Return the sentence ``name`` in ``language``, in English where there is none in it."""
    return _PHRASES.get(language, _PHRASES["en"])[name].format(**values)


def is_stop(text: str) -> bool:
    """Return whether ``text`` as a whole only tells the assistant to stop, in any language.

    One may say it twice and politely: "Stop, stop, please." A sentence about stopping is none.
    """
    plain = _plain(text)
    if len(plain.split()) > _MOST_STOP_WORDS:
        return False
    return _stop_pattern().fullmatch(plain) is not None


def is_yes(text: str) -> bool:
    """Return whether ``text`` is a clear yes in any language: it begins so, without a no."""
    plain = _plain(text)
    words = plain.split()
    if len(words) > _MOST_YES_WORDS or not _no_words().isdisjoint(words):
        return False
    return _yes_pattern().match(plain) is not None


def is_no(text: str) -> bool:
    """Return whether ``text`` as a whole is a refusal: a short sentence with a no in it."""
    words = _plain(text).split()
    return len(words) <= _MOST_YES_WORDS and not _no_words().isdisjoint(words)


@cache
def _yes_pattern() -> re.Pattern[str]:
    yes, around = _alternatives(_YES), _alternatives(_AROUND_YES)
    return re.compile(f"(?: (?:{around}))*(?: (?:{yes})) ")


@cache
def _no_words() -> frozenset[str]:
    return frozenset(_plain(word).strip() for word in _NO_WORDS)


@cache
def _stop_pattern() -> re.Pattern[str]:
    stops, around = _alternatives(_STOPS), _alternatives(_AROUND_STOPS)
    return re.compile(f"(?: (?:{around}))*(?: (?:{stops}))(?: (?:{stops}|{around}))* ")


def _alternatives(lists: dict[str, str]) -> str:
    return "|".join(_plain(words).strip() for each in lists.values() for words in each.split("|"))


def _plain(text: str) -> str:
    """Return the words of ``text`` in small letters without accents, a space around each."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    words = re.findall(r"\w+", "".join(c for c in letters if not unicodedata.combining(c)))
    return f" {' '.join(words)} "
