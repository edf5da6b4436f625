import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../..');

/** A seller's folder that began empty, before anything runs. */
export interface OwnShop {
  readonly folder: string;
  /** `npx tollgate …` in it. @throws Error with what the command said, if it fails */
  tollgate(...words: string[]): void;
  /** Writes members behind the last entry of the catalogue, each as a line of YAML. */
  addMembers(...lines: string[]): void;
  remove(): void;
}

/** What `npx tollgate init` writes into an empty folder. */
export function ownShop(): OwnShop {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-shop-'));
  const tollgate = (...words: string[]): void => {
    const env = { ...process.env, TOLLGATE_CONFIG: folder };
    const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'cli/tollgate.mjs'), ...words], { env, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  };
  tollgate('init', folder);
  const file = join(folder, 'catalogue.yml');
  return {
    folder,
    tollgate,
    addMembers: (...lines) =>
      writeFileSync(file, `${readFileSync(file, 'utf8').trimEnd()}\n${lines.map((line) => `    ${line}\n`).join('')}`),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
