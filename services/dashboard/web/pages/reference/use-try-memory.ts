import { useState } from 'react';

/** What the forms of this page share while it is open. It is kept nowhere else: leaving the page forgets it. */
export interface TryMemory {
  /** As it was typed last; empty for the one that the dashboard keeps. */
  readonly key: string;
  typeKey(key: string): void;
  /** The session that the product's last answer opened. */
  sessionOf(product: string): string | undefined;
  keepSession(product: string, sessionId: string): void;
}

export function useTryMemory(): TryMemory {
  const [key, typeKey] = useState('');
  const [sessions, setSessions] = useState<Readonly<Record<string, string>>>({});
  return {
    key,
    typeKey,
    sessionOf: (product) => sessions[product],
    keepSession: (product, sessionId) => setSessions((before) => ({ ...before, [product]: sessionId })),
  };
}
