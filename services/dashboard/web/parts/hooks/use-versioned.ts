import { useEffect, useState } from 'react';

interface VersionedOptions<Item> {
  /** The server's present version. */
  readonly item: Item;
  readonly isDirty: boolean;
  /** True when both have the same values in the fields of this form. */
  readonly isSame: (a: Item, b: Item) => boolean;
  /** Puts the item's values into the form. */
  readonly onReset: (item: Item) => void;
}

export interface Versioned<Item> {
  /** The version on which the form's edits are based. Its number is sent with the change. */
  readonly base: Item;
  /** True when somebody else changed the same fields while the form has edits. */
  readonly isStale: boolean;
  /** Drops the edits. */
  readonly takeTheirs: () => void;
  /** Keeps the edits, and bases them on the other person's version. */
  readonly keepMine: () => void;
}

/** Follows an item that others may change while a form edits it. Without edits the form follows too; with edits it reports the change. */
export function useVersioned<Item extends { version: string }>(options: VersionedOptions<Item>): Versioned<Item> {
  const { item, isDirty, isSame, onReset } = options;
  const [base, setBase] = useState(item);
  const isChanged = item.version !== base.version;
  const isStale = isChanged && isDirty && !isSame(item, base);
  useEffect(() => {
    if (!isChanged || isStale) return;
    setBase(item);
    if (!isDirty) onReset(item);
  });
  return {
    base,
    isStale,
    takeTheirs: () => {
      setBase(item);
      onReset(item);
    },
    keepMine: () => setBase(item),
  };
}
