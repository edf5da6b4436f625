import { type CodeSighting, type CodeSign } from '../code/find-code-signs';
import { startsApp } from '../manifest/read-components';
import { type Certificate } from '../signing/certificate';
import type {
  AppForm,
  ComponentFacts,
  ComponentKind,
  ComponentsFacts,
  FlagFacts,
  NetworkSecurityFacts,
  PackageFacts,
  PermissionFacts,
  SecretFacts,
  SigningFacts,
  TrackerFacts,
} from '../report';

/** The facts that rules examine. */
export interface JudgedFacts {
  readonly form: AppForm;
  readonly package: PackageFacts;
  /** False when a split is not signed by the base's signer. */
  readonly isSignedAlike: boolean;
  readonly flags: FlagFacts;
  readonly components: ComponentsFacts;
  readonly network_security: NetworkSecurityFacts;
  readonly signing: SigningFacts;
  readonly signers: readonly Pick<Certificate, 'facts'>[];
  readonly permissions: readonly PermissionFacts[];
  readonly trackers: readonly TrackerFacts[];
  readonly secrets: readonly SecretFacts[];
  readonly code: readonly CodeSighting[];
}

/** Returns the places in an app where something is seen; an empty list if it is not in the app. */
export type Sight = (facts: JudgedFacts) => readonly string[];

export const KINDS: Readonly<Record<ComponentKind, string>> = {
  activities: 'activity',
  services: 'service',
  receivers: 'receiver',
  providers: 'provider',
};

const ANDROID = 'android.permission.';
/** A name without a dot is one of Android's own permissions. */
export const fullPermissionName = (name: string): string => (name.includes('.') ? name : ANDROID + name);
const permissionPlace = (name: string): string => `permission ${name}`;

/** Sees requests for these permissions. */
export function asksFor(...names: readonly string[]): Sight {
  const wanted = new Set(names.map(fullPermissionName));
  return ({ permissions }) =>
    permissions.filter(({ name, requested }) => requested && wanted.has(name)).map(({ name }) => permissionPlace(name));
}

/** Limits network rules to apps that may use the network. */
export const ONLINE = asksFor('INTERNET');

/** Sees requests for dangerous permissions that are not listed elsewhere. */
export function asksForDangerous(isOther: (name: string) => boolean): Sight {
  return ({ permissions }) =>
    permissions
      .filter(({ name, requested, protection }) => requested && protection === 'dangerous' && isOther(name))
      .map(({ name }) => permissionPlace(name));
}

function components(kind: ComponentKind, isMeant: (component: ComponentFacts) => boolean): Sight {
  return (facts) => facts.components[kind].filter(isMeant).map(({ name }) => `${KINDS[kind]} ${name}`);
}

/**
 * Sees components that only the holder of one of these permissions may bind or call. Android requires the permission for such a service.
 */
export function boundBy(kind: ComponentKind, ...names: readonly string[]): Sight {
  const wanted = new Set(names.map(fullPermissionName));
  return components(kind, ({ permission }) => permission !== null && wanted.has(permission));
}

/** Sees components with one of these actions or categories in an intent filter. */
export function filtersFor(kind: ComponentKind, ...wanted: readonly string[]): Sight {
  const names = new Set(wanted);
  return components(kind, ({ intent_filters: filters }) =>
    filters.some(({ actions, categories }) => [...actions, ...categories].some((name) => names.has(name))),
  );
}

/** Sees components that every app may use. The launcher's entry must be exported, so it does not count. */
export function openComponents(kind: ComponentKind): Sight {
  return components(
    kind,
    ({ exported, permission, intent_filters: filters }) => exported && permission === null && !filters.some(startsApp),
  );
}

/** Sees a sign in the code. */
export function inCode(sign: CodeSign): Sight {
  return ({ code }) => code.filter((each) => each.sign === sign).map(({ place }) => place);
}

/** Sees one place, named in advance, when the condition holds. */
export function when(place: string, isTrue: (facts: JudgedFacts) => boolean): Sight {
  return (facts) => (isTrue(facts) ? [place] : []);
}

/** Sees what any of these sights sees. */
export function either(...sights: readonly Sight[]): Sight {
  return (facts) => [...new Set(sights.flatMap((sight) => sight(facts)))];
}

/** Sees what all of these sights see together, and nothing if one of them sees nothing. */
export function together(...sights: readonly Sight[]): Sight {
  return (facts) => {
    const seen = sights.map((sight) => sight(facts));
    return seen.every((places) => places.length > 0) ? [...new Set(seen.flat())] : [];
  };
}

/** Sees what the first sight sees, unless the second sees something. */
export function unless(sight: Sight, exception: Sight): Sight {
  return (facts) => (exception(facts).length > 0 ? [] : sight(facts));
}
