import { useEffect, useState } from 'react';

interface VersionedOptions<Item> {
  /** As the server has it now. */
  readonly item: Item;
  readonly isDirty: boolean;
  /** True when both hold the same in what this form edits. */
  readonly isSame: (a: Item, b: Item) => boolean;
  /** Puts the item's values into the form. */
  readonly onReset: (item: Item) => void;
}

export interface Versioned<Item> {
  /** What the form's edits are based on; its version goes along with the change. */
  readonly base: Item;
  /** True when somebody else changed what this form edits, while it holds edits. */
  readonly isStale: boolean;
  /** Drops the edits. */
  readonly takeTheirs: () => void;
  /** Keeps the edits, now based on what the other made. */
  readonly keepMine: () => void;
}

/** Follows an item that others may change while a form edits it. Without edits the form follows too; with edits it says so instead. */
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
