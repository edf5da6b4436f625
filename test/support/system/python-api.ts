import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ensurePackages } from '../debian-packages';
import { eventually } from '../eventually';
import { send } from '../http';

/** Of Debian's own Python. */
const PACKAGES = ['/usr/lib/python3/dist-packages/fastapi/__init__.py', '/usr/lib/python3/dist-packages/uvicorn/__init__.py'] as const;
const PAGE = resolve(__dirname, '../../../docs/your-api.md');

/** Writes the Python program of docs/your-api.md into a folder, as `weather.py`. */
export function writePythonApi(folder: string): void {
  writeFileSync(join(folder, 'weather.py'), /```python\n([\s\S]*?)```/.exec(readFileSync(PAGE, 'utf8'))?.[1] ?? '');
}

/** Starts it, as uvicorn does, on a port of the loopback interface, and waits until it answers. @returns what ends it */
export async function startPythonApi(folder: string, port: number): Promise<() => void> {
  await ensurePackages(PACKAGES, 'The tests of an API in Python');
  const child = spawn('/usr/bin/python3', ['-m', 'uvicorn', 'weather:app', '--port', String(port)], { cwd: folder, stdio: 'ignore' });
  await eventually(async () => (await send(`http://127.0.0.1:${port}/pune`).catch(() => undefined))?.status === 200);
  return () => void child.kill('SIGKILL');
}
