import { useSyncExternalStore } from 'react';

/** A saved list: members of the address's search. */
export interface SavedView {
  readonly name: string;
  readonly search: Readonly<Record<string, string>>;
}

/** Views of one list. More would not help to find one. */
const MAX_VIEWS = 20;
const placeOf = (list: string): string => `views-${list}`;

const isView = (value: unknown): value is SavedView =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  'search' in value &&
  typeof value.search === 'object' &&
  value.search !== null &&
  Object.values(value.search).every((each) => typeof each === 'string');

function parse(text: string | null): readonly SavedView[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value.filter(isView).slice(0, MAX_VIEWS) : [];
  } catch {
    return [];
  }
}

/** Empty if the browser stores nothing. */
function readText(list: string): string | null {
  try {
    return localStorage.getItem(placeOf(list));
  } catch {
    return null;
  }
}

const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // Changes from another tab.
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}

function write(list: string, views: readonly SavedView[]): void {
  localStorage.setItem(placeOf(list), JSON.stringify(views.slice(0, MAX_VIEWS)));
  for (const each of listeners) each();
}

/** The saved views of a list in this browser, newest first. `save` replaces a view of the same name. */
export function useSavedViews(list: string): {
  readonly views: readonly SavedView[];
  readonly save: (view: SavedView) => void;
  readonly forget: (name: string) => void;
} {
  const views = parse(useSyncExternalStore(subscribe, () => readText(list)));
  const without = (name: string): SavedView[] => views.filter((each) => each.name !== name);
  return {
    views,
    save: (view) => write(list, [view, ...without(view.name)]),
    forget: (name) => write(list, without(name)),
  };
}
