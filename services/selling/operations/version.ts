import { createHash } from 'node:crypto';

/** 128 bits: two different states never have the same version. */
const VERSION_CHARACTERS = 22;

/**
 * The version of something that people change.
 * @param fields everything that a person can change on it, and nothing that its use changes
 */
export function versionOf(fields: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(fields)).digest('base64url').slice(0, VERSION_CHARACTERS);
}

/** Somebody changed the thing after the caller read it; nothing was changed. Each subject has its own class, with the present state. */
export abstract class VersionConflict extends Error {
  override readonly name = 'VersionConflict';

  constructor() {
    super('it was changed in the meantime');
  }
}
