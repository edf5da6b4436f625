import { type KeySummary, type KeyView, type RotationPartner } from '../../../../plugins/stores/postgres/keys/key-view';
import { keyVersion } from '../../../../plugins/stores/postgres/version';
import { type Key, type ListedKey } from '../../contract/keys';

/** A stored key as lists show it. */
export function describeListedKey(view: KeySummary): ListedKey {
  const { id, name, maskedKey, mode, state, suspended, expired, products, tags, rotatedFrom } = view;
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
    tags: [...tags],
    createdAt: view.createdAt.toISOString(),
    lastUsedAt: view.lastUsedAt?.toISOString() ?? null,
    rotatedFrom,
  };
}

function describePartner(partner: RotationPartner | null): Key['replaces'] {
  return partner && { ...partner, expiresAt: partner.expiresAt && new Date(partner.expiresAt).toISOString() };
}

/** A stored key as its own page shows it. */
export function describeKey(view: KeyView): Key {
  const { rules, replaces, replacedBy } = view;
  return {
    ...describeListedKey(view),
    rules: [...rules],
    replaces: describePartner(replaces),
    replacedBy: describePartner(replacedBy),
    version: keyVersion(view),
  };
}
