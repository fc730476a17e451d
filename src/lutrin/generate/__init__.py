"""The batched decoder: one model, many readers.

A request's way, and what to read for it:

1. `worker.py`, in the server: gives each reader a stream and passes the request to the model's process; starts, watches
   and restarts that process. Nothing of llama.cpp is loaded on this side.
2. `protocol.py`: the messages between the two, and `Limits`, every bound of what follows.
3. `child.py`, the process: reads requests, lets the scheduler step, sends what comes out.
4. `scheduler.py`: the heart. Who is admitted (`queue.py`: sessions take turns), what each step computes, who is told
   what. It is pure: the model is behind `ports.Decoder`, time is an argument, so tests run it at any interleaving.
5. `prefix.py`: which sequence holds which tokens, so that what prompts have in common is computed once.
6. `pace.py`: how fast steps have been, and so who can be answered in time; others are told at once. `fit.py` leaves out
   paragraphs of a prompt that is too long; `text.py` makes text of tokens and ends loops.
7. `adapters/llamacpp_decoder.py` (not here: stages never import adapters) computes a step.

Besides: `measure.py` times a decoder in a process of its own, `tune.py` picks the number format and the model by that
(`lutrin models tune`). Why all this is as it is, with figures: docs/decisions/0010 and 0011.
"""
