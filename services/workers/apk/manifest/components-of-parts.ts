import { tolerate } from '../apk-error';
import { readResourcesOf } from '../container/app-part';
import { LIMITS } from '../limits';
import { type Notes } from '../notes';
import { type ComponentFacts, type ComponentsFacts } from '../report';
import { type ScannedPart } from '../scan/scan-contents';
import { AttributeReader, childrenNamed } from './attributes';
import { readComponents } from './read-components';
import { type ManifestFacts } from './read-manifest';

/**
 * The components of the base, followed by components that only its modules or splits declare. Nothing else in their manifests matters:
 * Android takes permissions and flags from the base.
 */
export function readComponentsOfParts(base: ManifestFacts, others: readonly ScannedPart[], notes: Notes): ComponentsFacts {
  const { name: packageName, target_sdk: target, min_sdk: min } = base.package;
  const defaults = { packageName, targetSdk: target ?? min ?? 1 };
  return others.reduce<ComponentsFacts>((known, { part, manifest }) => {
    const application = childrenNamed(manifest, 'application')[0];
    if (!application || application.children.length === 0) return known;
    const attributes = new AttributeReader(readResourcesOf(part, notes), notes.add);
    const more = tolerate(() => readComponents(application, attributes, defaults), undefined, notes.add);
    return more ? merge(known, more) : known;
  }, base.components);
}

function merge(known: ComponentsFacts, more: ComponentsFacts): ComponentsFacts {
  const both = (first: readonly ComponentFacts[], second: readonly ComponentFacts[]): ComponentFacts[] => {
    const names = new Set(first.map(({ name }) => name));
    return [...first, ...second.filter(({ name }) => !names.has(name))].slice(0, LIMITS.listed);
  };
  return {
    activities: both(known.activities, more.activities),
    services: both(known.services, more.services),
    receivers: both(known.receivers, more.receivers),
    providers: both(known.providers, more.providers),
  };
}
