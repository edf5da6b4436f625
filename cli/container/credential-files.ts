import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type IssuedCertificate } from './issue-certificates';

/** Variables of one holder's programs: file name → text. */
export type Variables = Readonly<Record<string, string>>;

/** Writes in one step, and only what changed, because others may be reading. Redis reads the files as its own user. */
export function write(file: string, text: string, mode = 0o400): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  const draft = `${file}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  chmodSync(draft, mode);
  renameSync(draft, file);
}

/** Values that are created once and stay the same in every later run. */
export class Memory {
  constructor(private readonly folder: string) {}

  keep(name: string, generate: () => string): string {
    const file = join(this.folder, name);
    if (!existsSync(file)) write(file, generate());
    return readFileSync(file, 'utf8');
  }

  password(name: string): string {
    return this.keep(name, () => randomBytes(32).toString('base64url'));
  }

  certificate(name: string, issue: () => IssuedCertificate): IssuedCertificate {
    return JSON.parse(this.keep(name, () => JSON.stringify(issue()))) as IssuedCertificate;
  }
}

/** @param folder contains a folder for each holder */
export function writeVariables(folder: string, holder: string, variables: Variables): void {
  const mode = holder === 'redis' ? 0o444 : 0o400;
  for (const [name, text] of Object.entries(variables)) write(join(folder, holder, name), text, mode);
}
