import { LIMITS } from '../limits';
import { type ComponentFacts, type ComponentsFacts, type IntentFilterFacts } from '../report';
import { type XmlElement } from '../resources/binary-xml';
import { ATTRIBUTE, type AttributeReader, childrenNamed } from './attributes';
import { fullClassName } from './attributes';

/** Values from which the defaults of components follow. */
export interface ComponentDefaults {
  readonly packageName: string;
  /** The effective target: declared target, else minimum, else 1. */
  readonly targetSdk: number;
}

/** Providers were exported by default below this target. */
const PROVIDER_PRIVATE_FROM = 17;
/** From this target on, a component with an intent filter must state whether it is exported. */
const EXPLICIT_EXPORT_FROM = 31;

/** Reads all components, with `exported` as Android decides it. */
export function readComponents(
  application: XmlElement | undefined,
  attributes: AttributeReader,
  defaults: ComponentDefaults,
): ComponentsFacts {
  const applicationPermission = application && attributes.text(application, ATTRIBUTE.permission);
  const read = (...tags: string[]): ComponentFacts[] => {
    const elements = childrenNamed(application, ...tags);
    if (elements.length > LIMITS.listed) attributes.note(`only ${LIMITS.listed} of ${elements.length} components are listed`);
    return elements.slice(0, LIMITS.listed).map((each) => readComponent(each, attributes, { ...defaults, applicationPermission }));
  };
  return {
    activities: read('activity', 'activity-alias'),
    services: read('service'),
    receivers: read('receiver'),
    providers: read('provider'),
  };
}

function readComponent(
  element: XmlElement,
  attributes: AttributeReader,
  { packageName, targetSdk, applicationPermission }: ComponentDefaults & { applicationPermission: string | undefined },
): ComponentFacts {
  const name = fullClassName(packageName, attributes.text(element, ATTRIBUTE.name) ?? '');
  const declared = attributes.boolean(element, ATTRIBUTE.exported);
  const filters = childrenNamed(element, 'intent-filter').slice(0, LIMITS.listed);
  const isProvider = element.name === 'provider';
  const byDefault = isProvider ? targetSdk < PROVIDER_PRIVATE_FROM : filters.length > 0;
  if (declared === undefined && !isProvider && filters.length > 0 && targetSdk >= EXPLICIT_EXPORT_FROM) {
    attributes.note(
      `${name} has an intent filter and does not say whether it is exported; Android 12 and later refuse to install such an app`,
    );
  }
  return {
    name,
    exported: declared ?? byDefault,
    explicit: declared !== undefined,
    permission: permissionOf(element, attributes) ?? applicationPermission ?? null,
    intent_filters: filters.map((filter) => readFilter(filter, attributes)),
  };
}

/** A provider may require one permission for reading and another for writing. It counts as protected when it requires both. */
function permissionOf(element: XmlElement, attributes: AttributeReader): string | undefined {
  const both = attributes.text(element, ATTRIBUTE.permission);
  if (element.name !== 'provider') return both;
  const read = attributes.text(element, ATTRIBUTE.readPermission) ?? both;
  const write = attributes.text(element, ATTRIBUTE.writePermission) ?? both;
  if (read === undefined || write === undefined) return undefined;
  return read === write ? read : `${read}, ${write}`;
}

const DATA_MEMBERS = {
  scheme: ATTRIBUTE.scheme,
  host: ATTRIBUTE.host,
  port: ATTRIBUTE.port,
  path: ATTRIBUTE.path,
  path_prefix: ATTRIBUTE.pathPrefix,
  path_pattern: ATTRIBUTE.pathPattern,
  mime_type: ATTRIBUTE.mimeType,
} as const;

function readFilter(filter: XmlElement, attributes: AttributeReader): IntentFilterFacts {
  const names = (tag: string): string[] =>
    childrenNamed(filter, tag)
      .map((each) => attributes.text(each, ATTRIBUTE.name))
      .filter((name) => name !== undefined)
      .slice(0, LIMITS.listed);
  const data = childrenNamed(filter, 'data').slice(0, LIMITS.listed);
  return {
    actions: names('action'),
    categories: names('category'),
    data: data.map((each) => {
      const members = Object.entries(DATA_MEMBERS).map(([member, id]) => [member, attributes.text(each, id)] as const);
      return Object.fromEntries(members.filter((entry): entry is readonly [keyof typeof DATA_MEMBERS, string] => entry[1] !== undefined));
    }),
  };
}

const MAIN_ACTION = 'android.intent.action.MAIN';
const LAUNCHER_CATEGORIES = ['android.intent.category.LAUNCHER', 'android.intent.category.LEANBACK_LAUNCHER'];

/** True when a launcher starts the app through this activity. */
export function isLauncher(activity: XmlElement, attributes: AttributeReader): boolean {
  return childrenNamed(activity, 'intent-filter').some((filter) => startsApp(readFilter(filter, attributes)));
}

export function startsApp(filter: IntentFilterFacts): boolean {
  return filter.actions.includes(MAIN_ACTION) && filter.categories.some((category) => LAUNCHER_CATEGORIES.includes(category));
}
