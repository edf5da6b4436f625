import { createAadhaarProvider } from './identity/aadhaar-provider';
import { createAbuseipdb } from './ip/abuseipdb';
import { createApkExamples } from './app/apk-examples';
import { createVirustotal } from './app/virustotal';
import { createBackgroundRemoval } from './image/background-removal';
import { createDns } from './ip/dns';
import { createRdap } from './ip/rdap';
import { createDrive } from './gdplay/drive';
import { createGeonames } from './pincode/geonames';
import { createGstPortal } from './identity/gst-portal';
import { type IdentitySources, createIdentity } from './identity/identity';
import { createGooglePlaces } from './ranking/places-google';
import { createPostalpincode } from './pincode/postalpincode';
import { createRankingLink } from './ranking/ranking-link';
import { type SandboxUpstream, type SandboxExample } from './sandbox-upstream';
import { createSeoBlockList } from './seo/seo-block-list';
import { createSeoBrave } from './seo/seo-brave';
import { createSeoCommonCrawl } from './seo/seo-common-crawl';
import { createSeoOpenPageRank } from './seo/seo-open-page-rank';
import { createSeoSearxng } from './seo/seo-searxng';
import { createSeoDuckduckgo } from './seo/seo-duckduckgo';
import { createSeoGoogleSuggest } from './seo/seo-google-suggest';
import { createSeoTranco } from './seo/seo-tranco';
import { createSeoWeb } from './seo/seo-web';
import { createZippopotam } from './pincode/zippopotam';

/**
 * Creates every simulated upstream. To add one, create a file in this folder and add a line here.
 * @param identity equals the identity worker's AADHAAR_TEST_SOURCE and GST_TEST_SOURCE, so that the list at `/` shows what test keys get
 */
export function createSandboxUpstreams(identity: IdentitySources = { aadhaar: 'link', gst: 'link' }): readonly SandboxUpstream[] {
  return [
    createDns(),
    createAbuseipdb(),
    createRdap(),
    createPostalpincode(),
    createZippopotam(),
    createGeonames(),
    createIdentity(identity),
    createAadhaarProvider(),
    createGstPortal(),
    createApkExamples(),
    createVirustotal(),
    createBackgroundRemoval(),
    createDrive(),
    createGooglePlaces(),
    createRankingLink(),
    createSeoSearxng(),
    createSeoBrave(),
    createSeoOpenPageRank(),
    createSeoTranco(),
    createSeoCommonCrawl(),
    createSeoBlockList(),
    createSeoDuckduckgo(),
    createSeoGoogleSuggest(),
    createSeoWeb(),
    createIndexRoutes(),
  ];
}

function index(product: string, route: string): SandboxExample {
  return { product, route, method: 'GET', outcome: 'success', input: {}, yields: '200, the index of the product' };
}

/** Products that publish only an index. They have no upstream, only documentation. */
function createIndexRoutes(): SandboxUpstream {
  return {
    name: 'index-routes',
    examples: [index('api-vahaan', '/vahaan'), index('api-background-remover', '/background_remover')],
  };
}
