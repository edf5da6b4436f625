import { fetchText, type UpdateOptions } from '../lists/update-list';
import { type Bootstrap, mergeBootstraps, parseBootstrap, RDAP_BOOTSTRAP_URLS, writeServers } from './rdap-servers';

/**
 * Fetches the list of registries' servers. If anything goes wrong, the previous file stays.
 * @throws BadServers, or the connection's error
 */
export async function updateRdapServers(options: UpdateOptions): Promise<Bootstrap> {
  const files: Bootstrap[] = [];
  for (const url of RDAP_BOOTSTRAP_URLS) files.push(parseBootstrap((await fetchText(url, options)).text));
  const servers = mergeBootstraps(files);
  await writeServers(options.folder, servers);
  return servers;
}
