/** Two ways to reach one product's live upstream: by name, the settings that each of them needs. */
export interface SourceChoice {
  /** The setting that says which one is used. */
  readonly source: string;
  readonly choices: Readonly<Record<string, readonly string[]>>;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** True when what is sent there cannot be seen on a network. @param url a valid URL */
export function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && LOOPBACK.test(new URL(url).hostname);
}

/**
 * Refuses half a source, two sources without a choice between them, and a choice that is not there.
 * @param complain takes the setting and what is wrong with it
 */
export function requireSources(
  settings: Readonly<Record<string, unknown>>,
  { source, choices }: SourceChoice,
  complain: (setting: string, message: string) => void,
): void {
  const isSet = (name: string): boolean => settings[name] !== undefined;
  const chosen = settings[source];
  for (const [name, needed] of Object.entries(choices)) {
    const reason = chosen === name ? `${source} is ${name}` : needed.filter(isSet).map((each) => `${each} is set`)[0];
    if (reason === undefined) continue;
    for (const each of needed) if (!isSet(each)) complain(each, `is required when ${reason}`);
  }
  const given = Object.values(choices).flatMap(([first]) => (first !== undefined && isSet(first) ? [first] : []));
  if (chosen === undefined && given.length > 1) complain(source, `must say which is used: ${given.join(' and ')} are both set`);
}
