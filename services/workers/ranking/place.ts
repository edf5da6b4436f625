/** Parts of an address, as far as the upstream gives them. */
export interface PlaceAddress {
  readonly formatted: string | null;
  readonly street: string | null;
  readonly locality: string | null;
  readonly region: string | null;
  readonly postalCode: string | null;
  readonly country: string | null;
  /** Two letters, upper case. */
  readonly countryCode: string | null;
}

/** One business, from any upstream. */
export interface Place {
  readonly placeId: string;
  readonly name: string;
  readonly address: PlaceAddress;
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** From 1 to 5. */
  readonly rating: number | null;
  readonly reviews: number | null;
  /** Written as is usual in its country. */
  readonly phone: string | null;
  readonly internationalPhone: string | null;
  readonly website: string | null;
  readonly mapsUrl: string | null;
  readonly businessStatus: string | null;
  readonly category: string | null;
  readonly types: readonly string[];
  /** A text for each weekday, from Monday on, in the requested language; null when the upstream gives none. */
  readonly hours: readonly string[] | null;
}
