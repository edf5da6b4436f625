// Original file: protos/seo/v1/seo.proto


export interface ListSourcesRequest {
}

export interface ListSourcesRequest__Output {
}
