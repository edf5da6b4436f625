// Original file: protos/ranking/v1/ranking.proto


export interface Coordinates {
  'latitude'?: (number | string);
  'longitude'?: (number | string);
}

export interface Coordinates__Output {
  'latitude': (number);
  'longitude': (number);
}
