import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { eventually } from '../eventually';
import { send } from '../http';

const PAGE = resolve(__dirname, '../../../docs/your-api.md');

/** Writes the Python program of docs/your-api.md into a folder, as `weather.py`. */
export function writePythonApi(folder: string): void {
  writeFileSync(join(folder, 'weather.py'), /```python\n([\s\S]*?)```/.exec(readFileSync(PAGE, 'utf8'))?.[1] ?? '');
}

/** Starts it on a port of the loopback interface, and waits until it answers. @returns what ends it */
export async function startPythonApi(folder: string, port: number): Promise<() => void> {
  const child = spawn('python3', ['weather.py', String(port)], { cwd: folder, stdio: 'ignore' });
  await eventually(async () => (await send(`http://127.0.0.1:${port}/`).catch(() => undefined))?.status === 200);
  return () => void child.kill('SIGKILL');
}
