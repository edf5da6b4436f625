// Original file: protos/seo/v1/seo.proto

import type { SourceReport as _seo_v1_SourceReport, SourceReport__Output as _seo_v1_SourceReport__Output } from '../../seo/v1/SourceReport';
import type { CrawlBudget as _seo_v1_CrawlBudget, CrawlBudget__Output as _seo_v1_CrawlBudget__Output } from '../../seo/v1/CrawlBudget';

export interface Research {
  'dataJson'?: (string);
  'sources'?: (_seo_v1_SourceReport)[];
  'crawlBudget'?: (_seo_v1_CrawlBudget | null);
}

export interface Research__Output {
  'dataJson': (string);
  'sources': (_seo_v1_SourceReport__Output)[];
  'crawlBudget': (_seo_v1_CrawlBudget__Output | null);
}
