// Preloaded (node --require) into a process whose wall clock a test sets: each SIGUSR2 takes the next offset of CLOCK_OFFSETS_MS, a list,
// while the process runs. Monotonic time is untouched, as it is when a machine's clock is set.
const { Date: RealDate } = globalThis;
const realNow = RealDate.now.bind(RealDate);
const offsets = (process.env.CLOCK_OFFSETS_MS ?? '').split(',').map(Number);
let offsetMs = 0;

RealDate.now = () => realNow() + offsetMs;
globalThis.Date = new Proxy(RealDate, {
  apply: (date) => new date(date.now()).toString(),
  construct: (date, args, target) => Reflect.construct(date, args.length === 0 ? [date.now()] : args, target),
});
process.on('SIGUSR2', () => {
  offsetMs = offsets.shift() ?? 0;
});
