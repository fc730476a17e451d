"""For servers of the tests on the loopback interface, and for clients that speak to them without TLS."""

import asyncio
import ssl

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Without the certificates of the web: to read them anew for each client takes a tenth of a second."""

ACCEPTED_TURNS = 3
"""Turns of the loop from an accepted socket to a connection that is being served."""


async def stop_listening(server: asyncio.Server) -> None:
    """Take no more connections; those that were accepted a moment ago are let in before the server closes.

    `Server.close` alone leaves them half made, neither served nor ever closed, which is a warning in a later test.
    """
    for listening in server.sockets:
        asyncio.get_running_loop().remove_reader(listening.fileno())
    for _ in range(ACCEPTED_TURNS):
        await asyncio.sleep(0)
    server.close()
