import { tolerate } from '../apk-error';
import { LIMITS } from '../limits';
import { type ComponentsFacts, type FlagFacts, type NetworkSecurityFacts, type PackageFacts, type PermissionFacts } from '../report';
import { parseBinaryXml, type XmlElement } from '../resources/binary-xml';
import { resolveValue } from '../resources/resource-table';
import { textOf } from '../resources/resource-value';
import { type ZipArchive } from '../zip/open-zip';
import { readEntry } from '../zip/read-entry';
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

/** Everything the manifest says. @throws MalformedError when it names no package */
export function readManifest(root: XmlElement, attributes: AttributeReader, archive: ZipArchive): ManifestFacts {
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
    network_security: networkSecurity(application, attributes, { ...defaults, archive }),
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
  { archive, ...defaults }: NetworkDefaults & { archive: ZipArchive },
): NetworkSecurityFacts {
  const byDefault = defaultNetworkSecurity(defaults);
  const reference = application && attributes.raw(application, ATTRIBUTE.networkSecurityConfig);
  if (!reference) return byDefault;
  return tolerate(
    () => {
      const value = resolveValue(attributes.table, reference);
      const configFile = value && textOf(value);
      const entry = configFile === undefined ? undefined : archive.entries.get(configFile);
      if (configFile === undefined || !entry) {
        attributes.note('the network security configuration that the manifest names is missing');
        return byDefault;
      }
      const root = parseBinaryXml(readEntry(archive, entry, LIMITS.xmlFileBytes), configFile);
      return readNetworkSecurity(root, attributes, { ...defaults, configFile });
    },
    byDefault,
    attributes.note,
  );
}
