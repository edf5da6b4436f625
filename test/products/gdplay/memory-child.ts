/** The service in a process of its own that reports the most memory it has held: run with the sandbox's URL in SANDBOX_URL. */
import { createInterface } from 'node:readline';
import { gdplayDeps, listenGdplay } from './gdplay-harness';

async function main(): Promise<void> {
  let peak = 0;
  setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20).unref();
  const service = await listenGdplay(gdplayDeps({ GDPLAY_API_KEY: 'live-api-key-1' }, process.env['SANDBOX_URL']));
  process.stdout.write(`${JSON.stringify({ url: service.url })}\n`);
  // Every line asks for the memory held now, and the most since the line before.
  createInterface({ input: process.stdin }).on('line', () => {
    const nowBytes = process.memoryUsage.rss();
    process.stdout.write(`${JSON.stringify({ nowBytes, peakBytes: Math.max(peak, nowBytes) })}\n`);
    peak = 0;
  });
}

void main();
