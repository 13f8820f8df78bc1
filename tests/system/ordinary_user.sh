# Run as an ordinary user in a real systemd (tests/systemd_box.py): prints lines name=value.
cd @CHECKOUT@
agent() { .venv/bin/python -m voice_agent "$@"; }
tried() { # NAME COMMAND...
  local name=$1 said code=0
  shift
  said=$(agent "$@" 2>&1 </dev/null) || code=$?
  echo "${name}_code=$code"
  echo "${name}_said=$(tr '\n' ' ' <<<"$said")"
}
data=~/.local/share/voice-agent

mkdir -p "$data"
chmod 500 "$data"
tried ask ask --quiet "Hello?"
tried history history
tried library library add examples/documents
advice=$(agent history 2>&1 | sed -n "s/.*: \(chmod [^,]*\),.*/\1/p")
echo "advice=$advice"
$(tr -d "'" <<<"$advice")
tried mended history

mkdir -m 500 ~/closed
XDG_CONFIG_HOME=~/closed tried settings settings set tts.rate 1.2

mkdir -p ~/.config/systemd/user
.venv/bin/python -c 'from voice_agent.control.unit import unit_text
from voice_agent.settings import load_settings
print(unit_text(load_settings().settings))' >~/.config/systemd/user/voice-agent.service
systemctl --user daemon-reload
echo "exposure=$(systemd-analyze --user security --no-pager voice-agent | tail -1)"
echo finished=yes
