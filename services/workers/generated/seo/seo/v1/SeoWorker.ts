// Original file: protos/seo/v1/seo.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { AuthorityRequest as _seo_v1_AuthorityRequest, AuthorityRequest__Output as _seo_v1_AuthorityRequest__Output } from '../../seo/v1/AuthorityRequest';
import type { BacklinksRequest as _seo_v1_BacklinksRequest, BacklinksRequest__Output as _seo_v1_BacklinksRequest__Output } from '../../seo/v1/BacklinksRequest';
import type { KeywordsRequest as _seo_v1_KeywordsRequest, KeywordsRequest__Output as _seo_v1_KeywordsRequest__Output } from '../../seo/v1/KeywordsRequest';
import type { LinkPyramidRequest as _seo_v1_LinkPyramidRequest, LinkPyramidRequest__Output as _seo_v1_LinkPyramidRequest__Output } from '../../seo/v1/LinkPyramidRequest';
import type { ListSourcesRequest as _seo_v1_ListSourcesRequest, ListSourcesRequest__Output as _seo_v1_ListSourcesRequest__Output } from '../../seo/v1/ListSourcesRequest';
import type { Research as _seo_v1_Research, Research__Output as _seo_v1_Research__Output } from '../../seo/v1/Research';
import type { SerpRequest as _seo_v1_SerpRequest, SerpRequest__Output as _seo_v1_SerpRequest__Output } from '../../seo/v1/SerpRequest';
import type { SourceList as _seo_v1_SourceList, SourceList__Output as _seo_v1_SourceList__Output } from '../../seo/v1/SourceList';
import type { SpamRequest as _seo_v1_SpamRequest, SpamRequest__Output as _seo_v1_SpamRequest__Output } from '../../seo/v1/SpamRequest';

export interface SeoWorkerClient extends grpc.Client {
  Authority(argument: _seo_v1_AuthorityRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  Authority(argument: _seo_v1_AuthorityRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  Authority(argument: _seo_v1_AuthorityRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  Authority(argument: _seo_v1_AuthorityRequest, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  authority(argument: _seo_v1_AuthorityRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  authority(argument: _seo_v1_AuthorityRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  authority(argument: _seo_v1_AuthorityRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  authority(argument: _seo_v1_AuthorityRequest, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  
  Backlinks(argument: _seo_v1_BacklinksRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  Backlinks(argument: _seo_v1_BacklinksRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  Backlinks(argument: _seo_v1_BacklinksRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  Backlinks(argument: _seo_v1_BacklinksRequest, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  backlinks(argument: _seo_v1_BacklinksRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  backlinks(argument: _seo_v1_BacklinksRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  backlinks(argument: _seo_v1_BacklinksRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  backlinks(argument: _seo_v1_BacklinksRequest, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  
  Keywords(argument: _seo_v1_KeywordsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  Keywords(argument: _seo_v1_KeywordsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  Keywords(argument: _seo_v1_KeywordsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  Keywords(argument: _seo_v1_KeywordsRequest, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  keywords(argument: _seo_v1_KeywordsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  keywords(argument: _seo_v1_KeywordsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  keywords(argument: _seo_v1_KeywordsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  keywords(argument: _seo_v1_KeywordsRequest, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  
  LinkPyramid(argument: _seo_v1_LinkPyramidRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  LinkPyramid(argument: _seo_v1_LinkPyramidRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  LinkPyramid(argument: _seo_v1_LinkPyramidRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  LinkPyramid(argument: _seo_v1_LinkPyramidRequest, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  linkPyramid(argument: _seo_v1_LinkPyramidRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  linkPyramid(argument: _seo_v1_LinkPyramidRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  linkPyramid(argument: _seo_v1_LinkPyramidRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  linkPyramid(argument: _seo_v1_LinkPyramidRequest, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  
  ListSources(argument: _seo_v1_ListSourcesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_SourceList__Output>): grpc.ClientUnaryCall;
  ListSources(argument: _seo_v1_ListSourcesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_seo_v1_SourceList__Output>): grpc.ClientUnaryCall;
  ListSources(argument: _seo_v1_ListSourcesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_SourceList__Output>): grpc.ClientUnaryCall;
  ListSources(argument: _seo_v1_ListSourcesRequest, callback: grpc.requestCallback<_seo_v1_SourceList__Output>): grpc.ClientUnaryCall;
  listSources(argument: _seo_v1_ListSourcesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_SourceList__Output>): grpc.ClientUnaryCall;
  listSources(argument: _seo_v1_ListSourcesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_seo_v1_SourceList__Output>): grpc.ClientUnaryCall;
  listSources(argument: _seo_v1_ListSourcesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_SourceList__Output>): grpc.ClientUnaryCall;
  listSources(argument: _seo_v1_ListSourcesRequest, callback: grpc.requestCallback<_seo_v1_SourceList__Output>): grpc.ClientUnaryCall;
  
  Serp(argument: _seo_v1_SerpRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  Serp(argument: _seo_v1_SerpRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  Serp(argument: _seo_v1_SerpRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  Serp(argument: _seo_v1_SerpRequest, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  serp(argument: _seo_v1_SerpRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  serp(argument: _seo_v1_SerpRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  serp(argument: _seo_v1_SerpRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  serp(argument: _seo_v1_SerpRequest, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  
  Spam(argument: _seo_v1_SpamRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  Spam(argument: _seo_v1_SpamRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  Spam(argument: _seo_v1_SpamRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  Spam(argument: _seo_v1_SpamRequest, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  spam(argument: _seo_v1_SpamRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  spam(argument: _seo_v1_SpamRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  spam(argument: _seo_v1_SpamRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  spam(argument: _seo_v1_SpamRequest, callback: grpc.requestCallback<_seo_v1_Research__Output>): grpc.ClientUnaryCall;
  
}

export interface SeoWorkerHandlers extends grpc.UntypedServiceImplementation {
  Authority: grpc.handleUnaryCall<_seo_v1_AuthorityRequest__Output, _seo_v1_Research>;
  
  Backlinks: grpc.handleUnaryCall<_seo_v1_BacklinksRequest__Output, _seo_v1_Research>;
  
  Keywords: grpc.handleUnaryCall<_seo_v1_KeywordsRequest__Output, _seo_v1_Research>;
  
  LinkPyramid: grpc.handleUnaryCall<_seo_v1_LinkPyramidRequest__Output, _seo_v1_Research>;
  
  ListSources: grpc.handleUnaryCall<_seo_v1_ListSourcesRequest__Output, _seo_v1_SourceList>;
  
  Serp: grpc.handleUnaryCall<_seo_v1_SerpRequest__Output, _seo_v1_Research>;
  
  Spam: grpc.handleUnaryCall<_seo_v1_SpamRequest__Output, _seo_v1_Research>;
  
}

export interface SeoWorkerDefinition extends grpc.ServiceDefinition {
  Authority: MethodDefinition<_seo_v1_AuthorityRequest, _seo_v1_Research, _seo_v1_AuthorityRequest__Output, _seo_v1_Research__Output>
  Backlinks: MethodDefinition<_seo_v1_BacklinksRequest, _seo_v1_Research, _seo_v1_BacklinksRequest__Output, _seo_v1_Research__Output>
  Keywords: MethodDefinition<_seo_v1_KeywordsRequest, _seo_v1_Research, _seo_v1_KeywordsRequest__Output, _seo_v1_Research__Output>
  LinkPyramid: MethodDefinition<_seo_v1_LinkPyramidRequest, _seo_v1_Research, _seo_v1_LinkPyramidRequest__Output, _seo_v1_Research__Output>
  ListSources: MethodDefinition<_seo_v1_ListSourcesRequest, _seo_v1_SourceList, _seo_v1_ListSourcesRequest__Output, _seo_v1_SourceList__Output>
  Serp: MethodDefinition<_seo_v1_SerpRequest, _seo_v1_Research, _seo_v1_SerpRequest__Output, _seo_v1_Research__Output>
  Spam: MethodDefinition<_seo_v1_SpamRequest, _seo_v1_Research, _seo_v1_SpamRequest__Output, _seo_v1_Research__Output>
}
