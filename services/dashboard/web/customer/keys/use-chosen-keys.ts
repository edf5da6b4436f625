import { useState } from 'react';
import { type ListedKey } from '../../../contract/keys';

/** The chosen keys of the shown page. A key that is out of sight is never chosen. */
export interface KeyChoice {
  readonly chosen: readonly ListedKey[];
  /** Keys of the page that can be revoked. */
  readonly possible: readonly ListedKey[];
  readonly choose: (id: string, isChosen: boolean) => void;
  readonly chooseAll: (isChosen: boolean) => void;
}

/** @param keys of the page; undefined while they load */
export function useChosenKeys(keys: readonly ListedKey[] | undefined): KeyChoice {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const possible = (keys ?? []).filter(({ state }) => state !== 'revoked');
  return {
    possible,
    chosen: possible.filter(({ id }) => ids.has(id)),
    choose: (id, isChosen) => setIds((now) => new Set(isChosen ? [...now, id] : [...now].filter((each) => each !== id))),
    chooseAll: (isChosen) => setIds(new Set(isChosen ? possible.map(({ id }) => id) : [])),
  };
}
