# Run as an ordinary user in a real systemd (tests/systemd_box.py): prints lines name=value.
cd @CHECKOUT@
agent() { .venv/bin/python -m voice_agent "$@"; }
property() { systemctl --user show voice-agent --property="$1" --value; }
state() { agent status --json 2>/dev/null | python3 -c 'import json,sys; print(json.load(sys.stdin)["state"])' 2>/dev/null; }
until_is() { # WHAT VALUE SECONDS
  for _ in $(seq "$3"); do [ "$($1)" = "$2" ] && return; sleep 1; done
  echo "never: $1 was $2"; agent service logs -n 40; systemctl --user status --no-pager voice-agent
}
active() { property ActiveState; }
now() { date +%s.%N; }
since() { echo "$(now) - $1" | awk '{print $1 - $3}'; }

agent settings set research.max_steps 2 >/dev/null
agent settings set research.timeout_s 10 >/dev/null

agent library add examples/documents >/dev/null
systemctl --user stop pulseaudio.socket pulseaudio.service
began=$(now)
agent service install
until_is state waiting 60
echo "without_sound=$(active) $(state)"
echo "while_starting=$(active)"
systemctl --user start pulseaudio.socket
{ # a room of our own: what is played into "mouth" the microphone hears
  pactl load-module module-null-sink sink_name=loudspeaker
  pactl load-module module-null-sink sink_name=mouth
  pactl load-module module-remap-source master=mouth.monitor source_name=microphone
  pactl set-default-sink loudspeaker
  pactl set-default-source microphone
} >/dev/null
until_is active active 240
echo "first_start_s=$(since "$began")"
echo "with_sound=$(active)"
echo "ready_state=$(state)"
echo "ready_text=$(property StatusText)"
until_is state idle 240
echo "prepared_s=$(since "$began")"
echo "prepared_text=$(property StatusText)"
echo "memory_mb=$(agent status --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["memory_mb"])')"

began=$(now)
kill -9 "$(property MainPID)"
sleep 2
until_is active active 240
echo "back_s=$(since "$began")"
until_is state idle 240
echo "after_kill=$(state)"
echo "restarts_after_kill=$(property NRestarts)"

agent settings set llm.model qwen2.5-coder-0.5b-instruct >/dev/null
began=$(now)
kill -STOP "$(property MainPID)"
restarts() { property NRestarts; }
until_is restarts 2 120
until_is active active 240
echo "healed_s=$(since "$began")"
until_is state idle 240
echo "after_standstill=$(state)"
echo "restarts_after_standstill=$(restarts)"

echo "asked=$(python3 - <<'PY'
import json, os, socket
ask = socket.socket(socket.AF_UNIX)
ask.connect(os.environ["XDG_RUNTIME_DIR"] + "/voice-agent/control.sock")
ask.sendall(b'{"v": 1, "op": "ask", "text": "Where is the xylophone kept?"}\n')
for line in ask.makefile():
    event = json.loads(line).get("event", {}).get("event")
    if event in ("answer", "cancelled", "error"):
        print(event)
        break
PY
)"
parec --device=loudspeaker.monitor --format=s16le --rate=16000 --channels=1 > ~/loudspeaker &
recorder=$!
PYTHONPATH=. .venv/bin/python tests/system/ask_by_voice.py mouth "When is the boiler serviced?"
kill "$recorder"
echo "voice_loudest=$(python3 -c '
import array, pathlib
raw = pathlib.Path.home().joinpath("loudspeaker").read_bytes()
print(max(map(abs, array.array("h", raw[: len(raw) // 2 * 2])), default=0))')"
until_is state idle 60
kill -USR1 "$(property MainPID)"
sleep 3
log() { journalctl --user --unit voice-agent --no-pager --output cat; }
echo "logged_turns=$(log | grep -c '^Turn ')"
echo "logged_words=$(log | grep -ciE 'xylophone|boiler')"
echo "dumped_state=$(log | grep -c '^State: ')"
echo "dumped_stacks=$(log | grep -c 'most recent call first')"
if [ -n "$(find "$XDG_RUNTIME_DIR/voice-agent" -maxdepth 1 -perm /077 ! -type l)" ]; then
  echo open_to_others=yes; else echo open_to_others=no; fi
systemd-analyze --user security --no-pager voice-agent | tail -1

began=$(now)
agent stop
until_is active inactive 20
echo "stop_s=$(since "$began")"
sleep 3
echo "after_stop=$(active)"
systemctl --user start voice-agent
until_is active active 240
began=$(now)
systemctl --user stop voice-agent
echo "systemctl_stop_s=$(since "$began")"

agent service uninstall
[ -e ~/.config/systemd/user/voice-agent.service ] && echo unit_left=yes || echo unit_left=no
[ -e "$XDG_RUNTIME_DIR/voice-agent/control.sock" ] && echo socket_left=yes || echo socket_left=no
echo "left=$(cd; find . -newer /box-script -type f -path '*voice*' | sed 's/^..//' | tr '\n' ' ')"
echo finished=yes
