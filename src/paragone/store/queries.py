"""The questions that results ask of a store: SQL text, so that no layer above has to know the tables."""

COSTS = {True: "k.cpu_seconds, k.peak_memory", False: "NULL, NULL"}
JOIN_COSTS = {True: "LEFT JOIN costs k ON k.cell_id = c.id", False: ""}
FIT_COSTS = {True: "g.cpu_seconds, k.cell_id IS NOT NULL", False: "NULL, 0"}
JOIN_FIT_COSTS = {True: "LEFT JOIN fit_costs g ON g.fit_key = c.fit_key", False: ""}


def with_costs(sql: str, known: bool) -> str:
    """Complete a query by the costs of cells and fits; by nothing where the store is of a version without them.

    Examples
    --------
    >>> with_costs("SELECT {costs} FROM cells c {join_costs}", True)
    'SELECT k.cpu_seconds, k.peak_memory FROM cells c LEFT JOIN costs k ON k.cell_id = c.id'
    >>> with_costs("SELECT {costs} FROM cells c {join_costs}", False)
    'SELECT NULL, NULL FROM cells c '
    """
    return sql.format(
        costs=COSTS[known],
        join_costs=JOIN_COSTS[known],
        fit_costs=FIT_COSTS[known],
        join_fit_costs=JOIN_FIT_COSTS[known],
    )


FAILURES = """
SELECT e.name, p.dataset, p.fold, p.method, p.repeat, c.status, c.error, c.traceback, c.seconds, {costs}
FROM plan p JOIN experiments e ON e.id = p.experiment_id JOIN cells c USING (key) {join_costs}
WHERE p.current = 1 AND c.status <> 'done'
ORDER BY p.experiment_id, p.position
"""
PLACES = """
SELECT e.name, p.dataset, p.fold, p.method, p.repeat, p.key, c.status, c.error, c.seconds, c.notes, f.seconds,
       p.protocol, {costs}, {fit_costs}
FROM plan p JOIN experiments e ON e.id = p.experiment_id
LEFT JOIN cells c USING (key) LEFT JOIN fits f ON f.fit_key = c.fit_key {join_costs} {join_fit_costs}
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
TIMES = """
SELECT dataset, method, count(*), sum(ended), sum(took), sum(took > 0) FROM (
    SELECT p.dataset AS dataset, p.method AS method, c.id IS NOT NULL AS ended, coalesce(c.seconds, 0.0) AS took
    FROM plan p JOIN experiments e ON e.id = p.experiment_id LEFT JOIN cells c USING (key)
    WHERE p.current = 1 AND e.name = ? GROUP BY p.key
) GROUP BY dataset, method
"""
ENDED = """
SELECT p.dataset, p.fold, p.method, p.repeat, c.status, c.seconds, c.error, c.traceback, c.finished_at, c.id, {{costs}}
FROM plan p JOIN experiments e ON e.id = p.experiment_id JOIN cells c USING (key) {{join_costs}}
WHERE p.current = 1 AND e.name = ? {and_status} ORDER BY {order} LIMIT ?
"""
FOLDS = """
SELECT p.fold, p.repeat, p.protocol, c.status, c.seconds, {costs}
FROM plan p JOIN experiments e ON e.id = p.experiment_id LEFT JOIN cells c USING (key) {join_costs}
WHERE p.current = 1 AND e.name = ? AND p.dataset = ? AND p.method = ? ORDER BY p.position
"""
WARNINGS = """
SELECT e.name, p.protocol, p.dataset, p.fold, p.method, p.repeat, w.category, w.message, w.count
FROM plan p JOIN experiments e ON e.id = p.experiment_id JOIN cells c USING (key) JOIN warnings w ON w.cell_id = c.id
WHERE p.current = 1 ORDER BY p.experiment_id, p.position, w.position
"""
ENDED_COUNTS = """
SELECT p.method, p.protocol, count(*) FROM plan p JOIN experiments e ON e.id = p.experiment_id JOIN cells c USING (key)
WHERE p.current = 1 AND e.name = ? GROUP BY p.method, p.protocol
"""
OUTPUT = "SELECT printed FROM outputs JOIN cells ON cells.id = cell_id WHERE key = ?"
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
