import { tolerate } from '../apk-error';
import { type ComponentsFacts, type FlagFacts, type NetworkSecurityFacts, type PackageFacts, type PermissionFacts } from '../report';
import { type XmlElement } from '../resources/binary-xml';
import { resolveValue } from '../resources/resource-table';
import { textOf } from '../resources/resource-value';
import { ATTRIBUTE, type AttributeReader, childrenNamed } from './attributes';
import { readComponents } from './read-components';
import { CLEARTEXT_REFUSED_FROM, defaultNetworkSecurity, type NetworkDefaults, readNetworkSecurity } from './read-network-security';
import { readPackage } from './read-package';
import { readPermissions } from './read-permissions';

export interface ManifestFacts {
  readonly package: PackageFacts;
  readonly permissions: readonly PermissionFacts[];
  readonly components: ComponentsFacts;
  readonly flags: FlagFacts;
  readonly network_security: NetworkSecurityFacts;
}

/** Another XML file of the app; undefined when there is none. @throws MalformedError */
export type ReadXml = (path: string) => XmlElement | undefined;

/** Everything the manifest says. @throws MalformedError when it names no package */
export function readManifest(root: XmlElement, attributes: AttributeReader, readXml: ReadXml): ManifestFacts {
  const facts = readPackage(root, attributes);
  const targetSdk = facts.target_sdk ?? facts.min_sdk ?? 1;
  const application = childrenNamed(root, 'application')[0];
  const flags = readFlags(application, attributes, targetSdk);
  const defaults = { targetSdk, usesCleartext: flags.uses_cleartext };
  return {
    package: facts,
    permissions: readPermissions(root, attributes),
    components: readComponents(application, attributes, { packageName: facts.name, targetSdk }),
    flags,
    network_security: networkSecurity(application, attributes, { ...defaults, readXml }),
  };
}

function readFlags(application: XmlElement | undefined, attributes: AttributeReader, targetSdk: number): FlagFacts {
  const flag = (id: number, byDefault: boolean): boolean => (application && attributes.boolean(application, id)) ?? byDefault;
  return {
    debuggable: flag(ATTRIBUTE.debuggable, false),
    allow_backup: flag(ATTRIBUTE.allowBackup, true),
    uses_cleartext: flag(ATTRIBUTE.usesCleartextTraffic, targetSdk < CLEARTEXT_REFUSED_FROM),
    test_only: flag(ATTRIBUTE.testOnly, false),
  };
}

function networkSecurity(
  application: XmlElement | undefined,
  attributes: AttributeReader,
  { readXml, ...defaults }: NetworkDefaults & { readXml: ReadXml },
): NetworkSecurityFacts {
  const byDefault = defaultNetworkSecurity(defaults);
  const reference = application && attributes.raw(application, ATTRIBUTE.networkSecurityConfig);
  if (!reference) return byDefault;
  return tolerate(
    () => {
      const value = resolveValue(attributes.table, reference);
      const configFile = value && textOf(value);
      const root = configFile === undefined ? undefined : readXml(configFile);
      if (configFile === undefined || !root) {
        attributes.note('the network security configuration that the manifest names is missing');
        return byDefault;
      }
      return readNetworkSecurity(root, attributes, { ...defaults, configFile });
    },
    byDefault,
    attributes.note,
  );
}
