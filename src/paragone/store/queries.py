"""The questions that results ask of a store: SQL text, so that no layer above has to know the tables."""

FAILURES = """
SELECT e.name, p.dataset, p.fold, p.method, p.repeat, c.status, c.error, c.traceback, c.seconds
FROM plan p JOIN experiments e ON e.id = p.experiment_id JOIN cells c USING (key)
WHERE p.current = 1 AND c.status <> 'done'
ORDER BY p.experiment_id, p.position
"""
PLACES = """
SELECT e.name, p.dataset, p.fold, p.method, p.repeat, p.key, c.status, c.error, c.seconds, c.notes, f.seconds
FROM plan p JOIN experiments e ON e.id = p.experiment_id
LEFT JOIN cells c USING (key) LEFT JOIN fits f ON f.fit_key = c.fit_key
WHERE p.current = 1
ORDER BY p.experiment_id, p.position
"""
RUNS = """
SELECT id, workers, environment, begun_at, beat, host, pid, process_start FROM runs ORDER BY id
"""
DATASETS = """
SELECT DISTINCT p.dataset, d.described FROM plan p
JOIN experiments e ON e.id = p.experiment_id JOIN datasets d USING (data_part)
WHERE p.current = 1 AND e.name = ? ORDER BY p.position
"""
FINGERPRINTS = """
SELECT DISTINCT p.dataset, p.data_part FROM plan p JOIN experiments e ON e.id = p.experiment_id
WHERE p.current = 1 AND e.name = ? ORDER BY p.position
"""
COUNTS = """
SELECT c.status, count(*), sum(c.seconds) FROM plan p JOIN experiments e ON e.id = p.experiment_id
LEFT JOIN cells c USING (key) WHERE p.current = 1 AND e.name = ? GROUP BY c.status
"""
ENDED = """
SELECT p.dataset, p.fold, p.method, p.repeat, c.status, c.seconds, c.error, c.traceback, c.finished_at, c.id
FROM plan p JOIN experiments e ON e.id = p.experiment_id JOIN cells c USING (key)
WHERE p.current = 1 AND e.name = ? {and_status} ORDER BY {order} LIMIT ?
"""
FOLDS = """
SELECT p.fold, p.repeat, p.protocol, c.status, c.seconds
FROM plan p JOIN experiments e ON e.id = p.experiment_id LEFT JOIN cells c USING (key)
WHERE p.current = 1 AND e.name = ? AND p.dataset = ? AND p.method = ? ORDER BY p.position
"""
ONE_CELL = """
SELECT e.name, p.key, p.fit_key, p.data_part, p.split_part, p.method_part, p.protocol_part,
       p.version_part, p.seed_part
FROM plan p JOIN experiments e ON e.id = p.experiment_id
WHERE p.current = 1 AND p.dataset = ? AND p.fold = ? AND p.method = ? AND p.repeat = ?
"""
EXPERIMENTS = "SELECT name FROM experiments ORDER BY id"
DESCRIBED = "SELECT described FROM experiments WHERE name = ?"
DECLARED = "SELECT declared FROM experiments WHERE name = ?"
METRICS = "SELECT DISTINCT metric FROM measures"
OPEN_KEYS = """
SELECT p.key FROM plan p JOIN experiments e ON e.id = p.experiment_id LEFT JOIN cells c USING (key)
WHERE p.current = 1 AND e.name = ? AND c.key IS NULL
"""
NEWEST = """
SELECT count(c.id), max(c.id) FROM plan p JOIN experiments e ON e.id = p.experiment_id
JOIN cells c USING (key) WHERE p.current = 1 AND e.name = ?
"""
PREDICTIONS = "SELECT payload FROM predictions JOIN cells ON cells.id = cell_id WHERE key = ?"
TRUTH = "SELECT payload FROM truths WHERE truth_key = ?"
SPLIT_ROWS = "SELECT train, test FROM splits WHERE split_part = ?"
DATASET = "SELECT described FROM datasets WHERE data_part = ?"
