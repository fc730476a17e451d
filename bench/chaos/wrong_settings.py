"""A wrong value for every setting, by field, as an operator may write it by a slip."""

WRONG = {
    "profile": "cloud", "data_dir": "/etc/passwd", "models_dir": "/etc/passwd", "tune": "perhaps",
    "model_threads": "-1", "model_context_tokens": "10", "model_slots": "0", "gpu_layers": "most", "queue_limit": "-1",
    "deadline_s": "nan", "explain_s": "0", "answer_tokens": "1", "own_words": "perhaps",
    "chunk_tokens": "99", "chunk_overlap_tokens": "201", "top_k": "0", "study_after_s": "-1",
    "study_on_battery": "perhaps", "study_exercises": "perhaps",
    "port": "http", "cors_origins": "school.github.io", "allowed_hosts": "https://book.example/",
    "trusted_proxies": "not a name", "connections": "1", "connections_per_peer": "0", "rate_session_per_min": "ten",
    "rate_peer_per_min": "-1", "admin_token": "short", "chat_key": "a password", "conversation_kb": "1",
    "reader_kb": "1", "metrics": "closed", "free_space_mb": "-1", "retention_days": "-1", "languages": "english",
    "log_format": "xml",    "log_level": "loud", "qdrant_url": "qdrant:6333",
    "qdrant_prefix": "a b",
    "share_books": "maybe", "grades": "perhaps", "model_cache": "f8", "passage_cache_mb": "-1", "passage_disk_mb": "-1",
    "open_sessions": "perhaps", "llm_base_url": "localhost", "embed_dimension": "1",
}  # fmt: skip
"""Judged by their form alone."""
LATER = {"model": "gigantic", "embedder": "no-such-model", "rerank": "no-such-model", "host": "300.1.1.1"}
"""Settings checked against the environment: models of the manifest, addresses of this machine."""
FREE = {"corpus_dir", "gemini_api_key", "qdrant_api_key", "database_url", "llm_model", "embed_model"}
"""Settings that only their service can check, and a folder that may be filled later."""
