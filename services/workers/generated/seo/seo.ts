import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { AuthorityRequest as _seo_v1_AuthorityRequest, AuthorityRequest__Output as _seo_v1_AuthorityRequest__Output } from './seo/v1/AuthorityRequest';
import type { BacklinksRequest as _seo_v1_BacklinksRequest, BacklinksRequest__Output as _seo_v1_BacklinksRequest__Output } from './seo/v1/BacklinksRequest';
import type { ConfiguredSource as _seo_v1_ConfiguredSource, ConfiguredSource__Output as _seo_v1_ConfiguredSource__Output } from './seo/v1/ConfiguredSource';
import type { CrawlBudget as _seo_v1_CrawlBudget, CrawlBudget__Output as _seo_v1_CrawlBudget__Output } from './seo/v1/CrawlBudget';
import type { KeywordsRequest as _seo_v1_KeywordsRequest, KeywordsRequest__Output as _seo_v1_KeywordsRequest__Output } from './seo/v1/KeywordsRequest';
import type { LinkPyramidRequest as _seo_v1_LinkPyramidRequest, LinkPyramidRequest__Output as _seo_v1_LinkPyramidRequest__Output } from './seo/v1/LinkPyramidRequest';
import type { ListSourcesRequest as _seo_v1_ListSourcesRequest, ListSourcesRequest__Output as _seo_v1_ListSourcesRequest__Output } from './seo/v1/ListSourcesRequest';
import type { Research as _seo_v1_Research, Research__Output as _seo_v1_Research__Output } from './seo/v1/Research';
import type { SeoWorkerClient as _seo_v1_SeoWorkerClient, SeoWorkerDefinition as _seo_v1_SeoWorkerDefinition } from './seo/v1/SeoWorker';
import type { SerpRequest as _seo_v1_SerpRequest, SerpRequest__Output as _seo_v1_SerpRequest__Output } from './seo/v1/SerpRequest';
import type { SourceList as _seo_v1_SourceList, SourceList__Output as _seo_v1_SourceList__Output } from './seo/v1/SourceList';
import type { SourceReport as _seo_v1_SourceReport, SourceReport__Output as _seo_v1_SourceReport__Output } from './seo/v1/SourceReport';
import type { SpamRequest as _seo_v1_SpamRequest, SpamRequest__Output as _seo_v1_SpamRequest__Output } from './seo/v1/SpamRequest';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  seo: {
    v1: {
      AuthorityRequest: MessageTypeDefinition<_seo_v1_AuthorityRequest, _seo_v1_AuthorityRequest__Output>
      BacklinksRequest: MessageTypeDefinition<_seo_v1_BacklinksRequest, _seo_v1_BacklinksRequest__Output>
      ConfiguredSource: MessageTypeDefinition<_seo_v1_ConfiguredSource, _seo_v1_ConfiguredSource__Output>
      CrawlBudget: MessageTypeDefinition<_seo_v1_CrawlBudget, _seo_v1_CrawlBudget__Output>
      KeywordsRequest: MessageTypeDefinition<_seo_v1_KeywordsRequest, _seo_v1_KeywordsRequest__Output>
      LinkPyramidRequest: MessageTypeDefinition<_seo_v1_LinkPyramidRequest, _seo_v1_LinkPyramidRequest__Output>
      ListSourcesRequest: MessageTypeDefinition<_seo_v1_ListSourcesRequest, _seo_v1_ListSourcesRequest__Output>
      Research: MessageTypeDefinition<_seo_v1_Research, _seo_v1_Research__Output>
      SeoWorker: SubtypeConstructor<typeof grpc.Client, _seo_v1_SeoWorkerClient> & { service: _seo_v1_SeoWorkerDefinition }
      SerpRequest: MessageTypeDefinition<_seo_v1_SerpRequest, _seo_v1_SerpRequest__Output>
      SourceList: MessageTypeDefinition<_seo_v1_SourceList, _seo_v1_SourceList__Output>
      SourceReport: MessageTypeDefinition<_seo_v1_SourceReport, _seo_v1_SourceReport__Output>
      SpamRequest: MessageTypeDefinition<_seo_v1_SpamRequest, _seo_v1_SpamRequest__Output>
    }
  }
}

