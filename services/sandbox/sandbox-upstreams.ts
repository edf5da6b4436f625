import { createAbuseipdb } from './abuseipdb';
import { createDns } from './dns';
import { createGeonames } from './geonames';
import { createIdentity } from './identity';
import { createIndexRoutes } from './index-routes';
import { createPostalpincode } from './postalpincode';
import { type SandboxUpstream } from './sandbox-upstream';
import { createZippopotam } from './zippopotam';

/** Every simulated upstream, fresh: a new one is a file in this folder and a line here. */
export function createSandboxUpstreams(): readonly SandboxUpstream[] {
  return [
    createDns(),
    createAbuseipdb(),
    createPostalpincode(),
    createZippopotam(),
    createGeonames(),
    createIdentity(),
    createIndexRoutes(),
  ];
}
