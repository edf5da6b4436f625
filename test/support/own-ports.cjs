// Each worker of jest has ports of its own: installations that two of them start at the same time do not choose the same.
const FIRST = 20_000;
const EACH = 3_000;
const WORKERS = 4;

const from = FIRST + ((Number(process.env['JEST_WORKER_ID'] ?? 1) - 1) % WORKERS) * EACH;
process.env['PORT_RANGE'] ??= `${from}-${from + EACH}`;
