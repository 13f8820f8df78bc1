import pytest

from voice_agent.spoken_text import spoken

SAID = [
    ("It costs 1,250.50 €.", "It costs one thousand two hundred fifty euros fifty cents."),
    ("It was 1.250,50 € then.", "It was one thousand two hundred fifty euros fifty cents then."),
    ("€45 or $3.20", "forty-five euros or three dollars twenty cents"),
    ("-£1.01", "minus one pound one penny"),
    ("about $2.5 million", "about two point five million dollars"),
    ("0.32 €/kWh", "thirty-two cents per kilowatt hour"),
    ("Open at 14:30, closed at 2:05 pm.", "Open at fourteen thirty, closed at two oh five PM."),
    ("9 a.m. to 5 p.m.", "nine AM to five PM."),
    ("9:00–17:00", "nine o'clock to seventeen o'clock"),
    ("due 2026-03-05", "due March fifth, twenty twenty-six"),
    ("due 05.03.2026", "due March fifth, twenty twenty-six"),
    ("on March 5, 2026", "on March fifth, twenty twenty-six"),
    ("on 5 March 2026", "on the fifth of March, twenty twenty-six"),
    ("since 1998 and in the 1980s", "since nineteen ninety-eight and in the nineteen eighties"),
    ("rooms 9-17 and 10–12", "rooms nine to seventeen and ten to twelve"),
    ("3.5 kg at 25 °C", "three point five kilograms at twenty-five degrees Celsius"),
    ("-4°C", "minus four degrees Celsius"),
    ("60 % of 20 m²", "sixty percent of twenty square meters"),
    ("30 km/h, 1 kWh, 2 l", "thirty kilometers per hour, one kilowatt hour, two liters"),
    ("No. 5 on p. 12", "Number five on page twelve"),
    ("The answer is no.", "The answer is no."),
    ("Call 555 0142 or +49 30 1234567.",
     "Call five five five, zero one four two or plus four nine, three zero,"
     " one two three four five six seven."),
    ("the 21st and 3rd", "the twenty-first and third"),
    ("2 3/4 cups, 1½ l", "two and three quarters cups, one and a half liters"),
    ("Dr. Lee, e.g. Mr. Hall & Co., etc.",
     "Doctor Lee, for example Mister Hall and Company, et cetera."),
    ("12 Elm St. and St. Mary", "twelve Elm Street and Saint Mary"),
    ("v2.1 and version 3.11.2",
     "version two point one and version three point eleven point two"),
    ("serial AB-1234", "serial A B one two three four"),
    ("and/or, he/she, Q&A", "and or, he or she, Q and A"),
    ("192.168.0.1", "one nine two dot one six eight dot zero dot one"),
    ("1,234,567 and 0042", "one million two hundred thirty-four thousand five hundred sixty-seven"
     " and zero zero four two"),
    ("Mon–Fri 8-12", "Monday to Friday eight to twelve"),
    ("Chapter IV", "Chapter four"),
    ("~3 of <5", "about three of less than five"),
    ("24/7", "twenty-four seven"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "said"), SAID)
def test_english(written: str, said: str) -> None:
    assert spoken(written) == said


@pytest.mark.parametrize("text", ["It has 12 rooms in 3 wings.", "At 7, 8 and 9.", "B12, A4"])
def test_no_digit_is_left(text: str) -> None:
    assert not any(char.isdigit() for char in spoken(text))


def test_plain_prose_is_unchanged() -> None:
    text = "I'd go to the bank, she said; it's open - isn't it?"
    assert spoken(text) == text.replace(" - ", ", ")
