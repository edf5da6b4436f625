import { comparePluginServers } from './compare';

// Run: `node cli/build.mjs && node dist/test/bench/plugin-server/run.js [events]`; about 30 s with the default.

comparePluginServers(Number(process.argv[2] ?? 200_000)).then(
  ({ ours, asKong, stock }) => {
    console.table({ ours, 'ours, replies in the pieces Kong writes': asKong, stock });
    const faster = (ours.eventsPerSecond / stock.eventsPerSecond).toFixed(2);
    const cheaper = (ours.cpuUsPerEvent / stock.cpuUsPerEvent).toFixed(2);
    console.log(`ours against stock: ${faster} x events/s, ${cheaper} x CPU per event`);
  },
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
