import { LIMITS } from '../limits';
import { type DomainSecurityFacts, type NetworkSecurityFacts } from '../report';
import { type XmlElement } from '../resources/binary-xml';
import { type AttributeReader, childrenNamed } from './attributes';

/** Facts of the manifest that apply only without a configuration file. */
export interface NetworkDefaults {
  readonly targetSdk: number;
  /** Value of android:usesCleartextTraffic, or its default. */
  readonly usesCleartext: boolean;
}

/** From this target on, cleartext is refused by default. */
export const CLEARTEXT_REFUSED_FROM = 28;
/** Below this target, certificates that the user installed are trusted by default. */
const USER_CERTIFICATES_REFUSED_FROM = 24;

/** The network security of an app without a configuration file. */
export function defaultNetworkSecurity({ targetSdk, usesCleartext }: NetworkDefaults): NetworkSecurityFacts {
  return {
    config_file: null,
    cleartext_permitted: usesCleartext,
    trusts_user_certificates: targetSdk < USER_CERTIFICATES_REFUSED_FROM,
    base_config: null,
    domains: [],
    debug_overrides: null,
  };
}

/** Reads a network security configuration, which replaces android:usesCleartextTraffic. */
export function readNetworkSecurity(
  root: XmlElement,
  attributes: AttributeReader,
  { configFile, targetSdk }: NetworkDefaults & { configFile: string },
): NetworkSecurityFacts {
  const base = childrenNamed(root, 'base-config')[0];
  const overrides = childrenNamed(root, 'debug-overrides')[0];
  const anchors = base ? trustAnchors(base, attributes) : undefined;
  const cleartext = base && attributes.plainBoolean(base, 'cleartextTrafficPermitted');
  return {
    config_file: configFile,
    cleartext_permitted: cleartext ?? targetSdk < CLEARTEXT_REFUSED_FROM,
    trusts_user_certificates: anchors ? anchors.includes('user') : targetSdk < USER_CERTIFICATES_REFUSED_FROM,
    base_config: base ? { cleartext_permitted: cleartext ?? null, trust_anchors: anchors ?? null } : null,
    domains: readDomains(root, attributes, 0),
    debug_overrides: overrides ? { trust_anchors: trustAnchors(overrides, attributes) ?? [] } : null,
  };
}

/** Domain configurations may be nested. The list is flat. */
function readDomains(parent: XmlElement, attributes: AttributeReader, depth: number): DomainSecurityFacts[] {
  if (depth > LIMITS.xmlDepth) return [];
  return childrenNamed(parent, 'domain-config')
    .slice(0, LIMITS.listed)
    .flatMap((config) => [readDomain(config, attributes), ...readDomains(config, attributes, depth + 1)]);
}

function readDomain(config: XmlElement, attributes: AttributeReader): DomainSecurityFacts {
  const pinSet = childrenNamed(config, 'pin-set')[0];
  const names = childrenNamed(config, 'domain').slice(0, LIMITS.listed);
  return {
    domains: names.map((each) => ({
      name: domainText(each),
      include_subdomains: attributes.plainBoolean(each, 'includeSubdomains') ?? false,
    })),
    cleartext_permitted: attributes.plainBoolean(config, 'cleartextTrafficPermitted') ?? null,
    trust_anchors: trustAnchors(config, attributes) ?? null,
    pins: childrenNamed(pinSet, 'pin').length,
    pin_expiration: (pinSet && attributes.plainText(pinSet, 'expiration')) ?? null,
  };
}

/** The domain is the element's text, not an attribute. */
function domainText(element: XmlElement): string {
  return element.text.trim().slice(0, 253).toLowerCase();
}

function trustAnchors(config: XmlElement, attributes: AttributeReader): string[] | undefined {
  const anchors = childrenNamed(config, 'trust-anchors')[0];
  if (!anchors) return undefined;
  const sources = childrenNamed(anchors, 'certificates').slice(0, LIMITS.listed);
  return sources.map((each) => attributes.plainText(each, 'src') ?? 'resource');
}
