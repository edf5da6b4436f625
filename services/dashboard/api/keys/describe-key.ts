import { type KeySummary, type KeyView } from '../../../../plugins/stores/postgres/keys/key-view';
import { keyVersion } from '../../../../plugins/stores/postgres/version';
import { type Key, type ListedKey } from '../../contract/keys';

/** A stored key as lists show it. */
export function describeListedKey(view: KeySummary): ListedKey {
  const { id, name, maskedKey, mode, state, suspended, expired, products, rotatedFrom } = view;
  return {
    id,
    name,
    maskedKey,
    mode,
    state,
    ...(suspended && { suspended }),
    expired,
    expiresAt: view.expiresAt?.toISOString() ?? null,
    products: [...products],
    createdAt: view.createdAt.toISOString(),
    lastUsedAt: view.lastUsedAt?.toISOString() ?? null,
    rotatedFrom,
  };
}

/** A stored key as its own page shows it. */
export function describeKey(view: KeyView): Key {
  return { ...describeListedKey(view), rules: [...view.rules], version: keyVersion(view) };
}
