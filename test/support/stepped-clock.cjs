// Preloaded (node --require) into a process whose wall clock a test steps: SIGUSR2 moves it by CLOCK_STEP_MS, once, while the process runs.
// Monotonic time is untouched, as it is when a machine's clock is set.
const { Date: RealDate } = globalThis;
const realNow = RealDate.now.bind(RealDate);
let offsetMs = 0;

RealDate.now = () => realNow() + offsetMs;
globalThis.Date = new Proxy(RealDate, {
  apply: (date) => new date(date.now()).toString(),
  construct: (date, args, target) => Reflect.construct(date, args.length === 0 ? [date.now()] : args, target),
});
process.on('SIGUSR2', () => {
  offsetMs = Number(process.env.CLOCK_STEP_MS);
});
