import { createAadhaarProvider } from './aadhaar-provider';
import { createAbuseipdb } from './abuseipdb';
import { createApkExamples } from './apk-examples';
import { createBackgroundRemoval } from './background-removal';
import { createDns } from './dns';
import { createDrive } from './drive';
import { createGeonames } from './geonames';
import { createGstPortal } from './gst-portal';
import { type AadhaarSource, createIdentity } from './identity';
import { createIndexRoutes } from './index-routes';
import { createGooglePlaces } from './places-google';
import { createPostalpincode } from './postalpincode';
import { createRankingLink } from './ranking-link';
import { type SandboxUpstream } from './sandbox-upstream';
import { createSeoBlockList } from './seo-block-list';
import { createSeoBrave } from './seo-brave';
import { createSeoCommonCrawl } from './seo-common-crawl';
import { createSeoOpenPageRank } from './seo-open-page-rank';
import { createSeoSearxng } from './seo-searxng';
import { createSeoDuckduckgo } from './seo-duckduckgo';
import { createSeoGoogleSuggest } from './seo-google-suggest';
import { createSeoTranco } from './seo-tranco';
import { createSeoWeb } from './seo-web';
import { createZippopotam } from './zippopotam';

/**
 * Every simulated upstream, fresh: a new one is a file in this folder and a line here.
 * @param options.aadhaarSource as the identity worker's AADHAAR_TEST_SOURCE, so that the list at `/` tells what test keys get
 */
export function createSandboxUpstreams({ aadhaarSource = 'link' }: { aadhaarSource?: AadhaarSource } = {}): readonly SandboxUpstream[] {
  return [
    createDns(),
    createAbuseipdb(),
    createPostalpincode(),
    createZippopotam(),
    createGeonames(),
    createIdentity(aadhaarSource),
    createAadhaarProvider(),
    createGstPortal(),
    createApkExamples(),
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
