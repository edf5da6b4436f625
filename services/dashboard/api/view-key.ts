import { type KeyView } from '../../../plugins/stores/postgres/key-view';
import { keyVersion } from '../../../plugins/stores/postgres/version';
import { type Key } from '../contract/keys';

/** A stored key as the pages show it. */
export function viewKey(view: KeyView): Key {
  const { id, name, maskedKey, mode, state, expired, products, rules, rotatedFrom } = view;
  return {
    id,
    name,
    maskedKey,
    mode,
    state,
    expired,
    expiresAt: view.expiresAt?.toISOString() ?? null,
    products: [...products],
    rules: [...rules],
    createdAt: view.createdAt.toISOString(),
    lastUsedAt: view.lastUsedAt?.toISOString() ?? null,
    rotatedFrom,
    version: keyVersion(view),
  };
}
