// Original file: protos/seo/v1/seo.proto

import type { SourceReport as _seo_v1_SourceReport, SourceReport__Output as _seo_v1_SourceReport__Output } from '../../seo/v1/SourceReport';

export interface Research {
  'dataJson'?: (string);
  'sources'?: (_seo_v1_SourceReport)[];
}

export interface Research__Output {
  'dataJson': (string);
  'sources': (_seo_v1_SourceReport__Output)[];
}
