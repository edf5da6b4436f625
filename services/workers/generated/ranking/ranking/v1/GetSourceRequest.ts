// Original file: protos/ranking/v1/ranking.proto


export interface GetSourceRequest {
}

export interface GetSourceRequest__Output {
}
