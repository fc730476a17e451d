"""The remote profile: OpenAI's protocol, Qdrant, PostgreSQL; the core finds it by the entry point `lutrin.profiles`."""
