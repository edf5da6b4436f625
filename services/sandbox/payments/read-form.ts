/** A value of a form in Stripe's notation. */
export type FormValue = string | { [name: string]: FormValue };

/** Reads `a[b][0][c]=1` as nested members. Positions in lists become names, as in `{ 0: … }`. https://docs.stripe.com/api */
export function readForm(text: string): Record<string, FormValue> {
  const root: Record<string, FormValue> = Object.create(null) as Record<string, FormValue>;
  for (const [key, value] of new URLSearchParams(text)) {
    const names = key.split(/[[\]]+/).filter((name) => name !== '');
    const last = names.pop();
    if (last === undefined) continue;
    let place = root;
    for (const name of names) {
      const next = (place[name] ??= Object.create(null) as Record<string, FormValue>);
      if (typeof next === 'string') throw new RangeError(`${key} has a value already`);
      place = next;
    }
    place[last] = value;
  }
  return root;
}

/** The text at a path of names; undefined if there is none. */
export function textAt(form: FormValue | undefined, ...names: readonly (string | number)[]): string | undefined {
  let place = form;
  for (const name of names) {
    if (place === undefined || typeof place === 'string') return undefined;
    place = place[name];
  }
  return typeof place === 'string' ? place : undefined;
}

/** The texts of a member, such as `metadata`. */
export function textsAt(form: FormValue | undefined, ...names: readonly string[]): Record<string, string> {
  let place = form;
  for (const name of names) {
    if (place === undefined || typeof place === 'string') return {};
    place = place[name];
  }
  if (place === undefined || typeof place === 'string') return {};
  return Object.fromEntries(Object.entries(place).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
