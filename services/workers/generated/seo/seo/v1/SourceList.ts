// Original file: protos/seo/v1/seo.proto

import type { ConfiguredSource as _seo_v1_ConfiguredSource, ConfiguredSource__Output as _seo_v1_ConfiguredSource__Output } from '../../seo/v1/ConfiguredSource';

export interface SourceList {
  'sources'?: (_seo_v1_ConfiguredSource)[];
}

export interface SourceList__Output {
  'sources': (_seo_v1_ConfiguredSource__Output)[];
}
