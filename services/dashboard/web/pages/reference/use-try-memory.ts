import { useState } from 'react';

/** What the forms of this page share while it is open. It is kept nowhere else: leaving the page forgets it. */
export interface TryMemory {
  /** The key for a product: its own, else what was typed last. */
  keyFor(product: string): string;
  /** True when this page made the key that stands there. */
  hasMade(product: string): boolean;
  typeKey(product: string, key: string): void;
  keepMade(product: string, key: string): void;
  /** The session that the product's last answer opened. */
  sessionOf(product: string): string | undefined;
  keepSession(product: string, sessionId: string): void;
}

type ByProduct = Readonly<Record<string, string>>;

export function useTryMemory(): TryMemory {
  const [typed, setTyped] = useState('');
  const [made, setMade] = useState<ByProduct>({});
  const [sessions, setSessions] = useState<ByProduct>({});
  return {
    keyFor: (product) => made[product] ?? typed,
    hasMade: (product) => made[product] !== undefined,
    typeKey(product, key) {
      setMade((before) => Object.fromEntries(Object.entries(before).filter(([each]) => each !== product)));
      setTyped(key);
    },
    keepMade: (product, key) => setMade((before) => ({ ...before, [product]: key })),
    sessionOf: (product) => sessions[product],
    keepSession: (product, sessionId) => setSessions((before) => ({ ...before, [product]: sessionId })),
  };
}
