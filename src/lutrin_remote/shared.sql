CREATE UNLOGGED TABLE IF NOT EXISTS lutrin_rate (
    key TEXT PRIMARY KEY, times DOUBLE PRECISION[] NOT NULL, seen DOUBLE PRECISION NOT NULL);
CREATE UNLOGGED TABLE IF NOT EXISTS lutrin_event (
    turn TEXT NOT NULL, number INTEGER NOT NULL, asked TEXT NOT NULL, event TEXT NOT NULL,
    kept DOUBLE PRECISION NOT NULL, PRIMARY KEY (turn, number));
CREATE UNLOGGED TABLE IF NOT EXISTS lutrin_job (
    job TEXT PRIMARY KEY, state TEXT NOT NULL, posted DOUBLE PRECISION NOT NULL);
-- Counts a question under both keys, or says how many seconds to wait; rows are locked in one order, so two calls
-- never wait for each other, and the clock is the database's, so all servers agree.
CREATE OR REPLACE FUNCTION lutrin_admit(keys TEXT[], limits INTEGER[], span DOUBLE PRECISION)
RETURNS DOUBLE PRECISION LANGUAGE plpgsql AS $$
DECLARE
    moment DOUBLE PRECISION;
    pause DOUBLE PRECISION;
BEGIN
    INSERT INTO lutrin_rate SELECT key, '{}', 0 FROM unnest(keys) AS key ORDER BY key ON CONFLICT DO NOTHING;
    PERFORM 1 FROM lutrin_rate WHERE key = ANY (keys) ORDER BY key FOR UPDATE;
    moment := extract(epoch FROM clock_timestamp());
    UPDATE lutrin_rate SET seen = moment,
        times = ARRAY(SELECT t FROM unnest(times) AS t WHERE t + span > moment ORDER BY t)
        WHERE key = ANY (keys);
    SELECT max(times[cardinality(times) - cap + 1] + span - moment) INTO pause
        FROM lutrin_rate JOIN unnest(keys, limits) AS wanted (name, cap) ON key = name WHERE cardinality(times) >= cap;
    IF pause IS NOT NULL THEN
        RETURN pause;
    END IF;
    UPDATE lutrin_rate SET times = times || moment WHERE key = ANY (keys);
    RETURN 0;
END $$;
