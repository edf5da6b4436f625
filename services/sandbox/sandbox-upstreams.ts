import { createAbuseipdb } from './abuseipdb';
import { createApkExamples } from './apk-examples';
import { createBackgroundRemoval } from './background-removal';
import { createDns } from './dns';
import { createDrive } from './drive';
import { createGeonames } from './geonames';
import { createIdentity } from './identity';
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

/** Every simulated upstream, fresh: a new one is a file in this folder and a line here. */
export function createSandboxUpstreams(): readonly SandboxUpstream[] {
  return [
    createDns(),
    createAbuseipdb(),
    createPostalpincode(),
    createZippopotam(),
    createGeonames(),
    createIdentity(),
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
