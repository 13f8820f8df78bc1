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

systemctl --user stop pulseaudio.socket pulseaudio.service
began=$(now)
agent service install
until_is state waiting 60
echo "without_sound=$(active) $(state)"
echo "while_starting=$(active)"
systemctl --user start pulseaudio.socket
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
kill -USR1 "$(property MainPID)"
sleep 3
log() { journalctl --user --unit voice-agent --no-pager --output cat; }
echo "logged_turns=$(log | grep -c '^Turn ')"
echo "logged_words=$(log | grep -ci xylophone)"
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
