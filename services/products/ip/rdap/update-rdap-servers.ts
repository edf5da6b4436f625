import { fetchText, type UpdateOptions } from '../lists/update-list';
import { type Bootstrap, mergeBootstraps, parseBootstrap, RDAP_BOOTSTRAP_URLS, writeServers } from './rdap-servers';

/**
 * Fetches which registry's server knows which addresses. Whatever goes wrong, the file before stays.
 * @throws BadServers, or what the connection failed with
 */
export async function updateRdapServers(options: UpdateOptions): Promise<Bootstrap> {
  const files: Bootstrap[] = [];
  for (const url of RDAP_BOOTSTRAP_URLS) files.push(parseBootstrap((await fetchText(url, options)).text));
  const servers = mergeBootstraps(files);
  await writeServers(options.folder, servers);
  return servers;
}
