# Run as an ordinary user in a real systemd (tests/systemd_box.py): prints lines name=value.
# In the service's own unit a program that only tries to reach other addresses takes its place.
cd @CHECKOUT@
units=~/.config/systemd/user
mkdir -p $units/voice-agent.service.d
cat > $units/voice-agent.service.d/reach.conf <<'END'
[Service]
Type=oneshot
WatchdogSec=0
Restart=no
ExecStart=
ExecStart=/usr/bin/python3 %h/reach.py
END
cat > ~/listen.py <<'END'
import socket
listening = socket.create_server(("0.0.0.0", 4711))
while True:
    listening.accept()[0].close()
END
cat > ~/reach.py <<'END'
import errno, pathlib, socket
def reach(family, kind, address):
    try:
        with socket.socket(family, kind) as trying:
            trying.settimeout(5)
            trying.connect(address)
        return "reached"
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))
def outside():
    for line in pathlib.Path("/proc/net/fib_trie").read_text().split("LOCAL"):
        word = line.split("|--")[-1].split()[0]
        if "/32 host" in line and not word.startswith("127.") and word.count(".") == 3:
            return word
    return "127.0.0.1"
lines = {
    "tcp": reach(socket.AF_INET, socket.SOCK_STREAM, (outside(), 4711)),
    "udp": reach(socket.AF_INET, socket.SOCK_DGRAM, (outside(), 4711)),
    "tcp6": reach(socket.AF_INET6, socket.SOCK_STREAM, ("::ffff:127.0.0.1", 4711)),
    "names": reach(socket.AF_NETLINK, socket.SOCK_RAW, (0, 0)),
    "address": outside(),
}
text = "".join(f"{name}={value}\n" for name, value in lines.items())
pathlib.Path.home().joinpath("reached").write_text(text)
END
try_with() { # PROVIDER
  VOICE_AGENT_LLM__PROVIDER=$1 .venv/bin/python -c '
from voice_agent.control.unit import unit_text
from voice_agent.settings import load_settings
print(unit_text(load_settings().settings))' > $units/voice-agent.service
  rm -f ~/reached
  systemctl --user daemon-reload
  systemctl --user start voice-agent
  sed "s/^/$1_/" ~/reached
}
python3 ~/listen.py & listener=$!
sleep 1
try_with openai
try_with local
kill $listener
echo finished=yes
