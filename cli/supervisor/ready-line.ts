import { type Readable } from 'node:stream';

/** The JSON line that a process prints on stdout when it takes requests. Ports and addresses are further members. */
export type ReadyLine = Readonly<Record<string, unknown>> & { readonly ready: true };

/** Far longer than any ready line. A process that prints something else first must not fill the memory. */
const MAX_WAIT_CHARACTERS = 65_536;

function parse(line: string): ReadyLine | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'ready' in value && value.ready === true ? { ...value, ready: true } : undefined;
  } catch {
    return undefined;
  }
}

/** Calls `found` with the first ready line of the stream, at most once. The stream stays readable for others. */
export function watchForReadyLine(stream: Readable, found: (line: ReadyLine) => void): void {
  let text = '';
  const look = (chunk: Buffer): void => {
    text += chunk.toString();
    const lines = text.split('\n');
    text = (lines.pop() ?? '').slice(0, MAX_WAIT_CHARACTERS);
    const ready = lines.map(parse).find((line) => line !== undefined);
    if (!ready) return;
    stream.off('data', look);
    found(ready);
  };
  stream.on('data', look);
}
