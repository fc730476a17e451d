"""For clients that speak to servers of the tests, which have no TLS."""

import ssl

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Without the certificates of the web: to read them anew for each client takes a tenth of a second."""
