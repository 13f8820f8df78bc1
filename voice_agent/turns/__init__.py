"""When is someone talking, and to us.

Sound comes in hops of 10 ms, mono float32 in [-1, 1] at 16 kHz. `front_end` leads each hop through
`wake_word` and `vad` to `endpointing`; `preroll` keeps what has just been heard.
"""

HOP_SAMPLES = 160
HOP_S = 0.01
