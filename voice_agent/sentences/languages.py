"""What a full stop may follow in each language without ending the sentence."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """The words that decide whether a full stop ends a sentence; all in lower case.

    ``never``: abbreviations that stand before more of the sentence ("Dr.").
    ``numbered``: abbreviations only when a number follows ("No. 5"), else words ("no.").
    ``either``: may end a sentence; it does when the next word is one of ``starters``.
    ``ordinals``: whether a number with a full stop is an ordinal ("3. Mai").
    """

    never: frozenset[str]
    numbered: frozenset[str]
    either: frozenset[str]
    starters: frozenset[str]
    ordinals: bool = False


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_INTERNATIONAL = _words("dr prof st mt mrs mr ms vs cf approx ca e.g i.e ph.d m.sc b.sc n° nº nr")

ENGLISH = Language(
    never=_INTERNATIONAL
    | _words("messrs mme gen col maj capt cmdr lt sgt rev hon gov pres sen rep supt det fr ft"),
    numbered=_words(
        "no nos p pp fig figs vol vols ch chap sec sect art eq ed tab pt par para ref ext tel max"
        " min jan feb mar apr jun jul aug sep sept oct nov dec app op v ver lot rm apt"
    ),
    either=_words(
        "co corp inc ltd llc plc bros jr sr etc al esq dept univ assn est ave blvd rd str ln sq"
        " bldg a.m p.m am pm u.s u.s.a u.k e.u u.n d.c b.c a.d st mon tue tues wed thu thurs fri"
        " sat sun hr hrs mins secs in lb lbs oz yd gal mi tsp tbsp misc incl temp"
    ),
    starters=_words(
        "a an the this that these those it its he she they we you i his her their our your my there"
        " here what when where who why how which if in on at as after before during for from to"
        " with without by but and or so yet however then thus therefore also once since until"
        " although though because while unlike all both each every some many most no none not only"
        " one two three please yes is are was were do does did has have had can could will would"
        " should may might let it's that's there's don't under over between according first"
        " second third next finally otherwise instead another any it'll you'll he's she's they're"
        " we're i'm i've i'll"
    ),
)

GERMAN = Language(
    never=_INTERNATIONAL
    | _words(
        "hr fr frl hrn dipl ing med jur phil rer nat bzw vgl sog ggf evtl inkl exkl zzgl abzgl bspw"
        " kath ev dt engl frz geb gest gegr max min mind ungef usf allg bes insb gem lt abb abs art"
        " aufl bd hrsg kap tel ziff z.b d.h u.a z.t i.d.r o.ä u.ä s.o s.u z.zt u.u v.a i.a e.v s"
    ),
    numbered=_words("no p jan feb mär apr jun jul aug sep sept okt nov dez nrn"),
    either=_words("usw etc co inc ltd str pl mio mrd tsd std sek mo di mi do fr sa so jh jr sen"),
    starters=_words(
        "der die das den dem des ein eine einen einem einer es er sie ich wir ihr man dies diese"
        " dieser dieses dabei dafür dagegen daher damit danach dann daran darauf darin darum davon"
        " davor dazu da dort hier heute gestern morgen jetzt nun so also aber und oder doch denn"
        " wenn falls weil obwohl während nachdem bevor seit als ob wie was wer wo wann warum welche"
        " welcher welches bitte ja nein nicht kein keine auch nur noch schon in im am an auf aus"
        " bei beim bis durch für gegen mit nach ohne seitdem über um unter von vom vor zu zum zur"
        " zudem außerdem allerdings jedoch trotzdem deshalb deswegen somit zuerst zuletzt alle"
        " alles jede jeder jedes mein dein sein unser euer ist sind war waren hat haben wird werden"
        " kann können muss müssen soll sollen darf mehr einige viele beide"
    ),
    ordinals=True,
)

SPANISH = Language(
    never=_INTERNATIONAL
    | _words(
        "sr sra srta sres dra d dña ud uds vd vds lic ing gral cap cnel p.ej ej av avda c tel pág"
        " págs núm art fig cap vol ee.uu ee aprox depto admón izq dcha a.c d.c"
    ),
    numbered=_words("no p pp n"),
    either=_words("etc cía s.a s.l a.m p.m jr"),
    starters=_words(
        "el la los las lo un una unos unas este esta esto ese esa eso aquel él ella ellos ellas yo"
        " tú usted nosotros y o pero si no sí también además sin con en de del al a por para como"
        " cuando donde quien que qué después antes luego entonces hay es son fue era su sus mi tu"
    ),
)

FRENCH = Language(
    never=_INTERNATIONAL
    | _words("m mm mme mmes mlle mlles me mgr pr p.ex ex av bd tél env apr vol chap fig art éd"),
    numbered=_words("no p pp"),
    either=_words("etc cie ltd inc s.a"),
    starters=_words(
        "le la les l' un une des ce cet cette ces il elle ils elles on je tu nous vous son sa ses"
        " leur et ou mais si non oui aussi donc puis ensuite après avant en dans sur sous avec"
        " sans par pour à au aux de du que qui quoi quand où comment pourquoi c'est est sont"
    ),
)

LANGUAGES = {"en": ENGLISH, "de": GERMAN, "es": SPANISH, "fr": FRENCH}


def language_of(code: str) -> Language:
    """Return the rules for a language code such as "de" or "de_DE"; English for an unknown one."""
    return LANGUAGES.get(code[:2].lower(), ENGLISH)
