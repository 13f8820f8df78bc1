import pytest

from voice_agent.audio.devices import Device, choose
from voice_agent.errors import DeviceError

DEVICES = [
    Device(0, "USB Microphone", "ALSA", 1, 0, 48_000),
    Device(1, "HDMI", "ALSA", 0, 8, 48_000),
    Device(2, "Desk speaker", "ALSA", 0, 2, 44_100, default_output=True),
    Device(3, "Desk speaker 2", "ALSA", 0, 2, 44_100),
]


@pytest.mark.parametrize(
    ("wanted", "number"),
    [("", 2), ("1", 1), ("hdmi", 1), ("desk speaker", 2), ("speaker 2", 3), (" HDMI ", 1)],
)
def test_a_setting_means_a_device(wanted: str, number: int) -> None:
    assert choose(DEVICES, wanted, "output").number == number


def test_without_a_default_the_first_that_can_is_taken() -> None:
    assert choose(DEVICES, "", "input").number == 0


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(DeviceError, match="'HDMI', 'Desk speaker'.*audio.output_device"):
        choose(DEVICES, "radio", "output")


def test_a_microphone_is_no_loudspeaker() -> None:
    with pytest.raises(DeviceError):
        choose(DEVICES, "0", "output")


def test_no_device_at_all() -> None:
    with pytest.raises(DeviceError, match="no loudspeaker.*--out F"):
        choose([], "", "output")
