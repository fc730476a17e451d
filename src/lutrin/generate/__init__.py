"""The batched decoder: one model, many readers.

The path of a request, and the file for each step:

1. `worker.py`, in the server: gives each reader a stream and passes the request to the model's process; starts, watches
   and restarts that process. Nothing of llama.cpp is loaded on this side.
2. `child.py`, the process: the messages between the two; reads requests, steps the scheduler, sends the results.
3. `scheduler.py`, the core: decides which requests to admit (`lutrin/fairness.py`: peers and sessions take turns), what
   each step computes, and which estimates readers get. It is pure: the model is behind `ports.Decoder` and time is an
   argument, so tests can run any interleaving.
4. `prefix.py`: which sequence holds which tokens, so that common beginnings of prompts are computed once; the states of
   rules and sections, in memory and on disk, so that a passage is read once.
5. `head.py`: reads from the model's own values whether the passage before a question answers it.
6. `adapters/llamacpp.py` (not here: stages never import adapters) computes a step.

`tune.py` times a decoder in a separate process, to pick the number format and the model (`lutrin models tune`).
docs/decisions/0010, 0011, 0054 and 0073 give the reasons and the figures.
"""
