import { z } from 'zod';

const place = z.object({
  latitude: z.number().nullable(),
  longitude: z.number().nullable(),
  accuracy_radius_km: z.number().nullable(),
  time_zone: z.string().nullable(),
  region: z.string().nullable(),
  postal_code: z.string().nullable(),
  country_name: z.string().nullable(),
});

/** CC-BY-4.0 asks for it wherever results of the shipped data are shown. */
const ATTRIBUTION =
  'City data: IP Geolocation by DB-IP (https://db-ip.com), CC-BY-4.0. ASN data: RouteViews, DB-IP and NRO by way of ip-location-db, ' +
  'CC-BY-4.0. Scores labelled heuristic are rankings, not probabilities.';

const scoreMethod = z.enum(['maxmind', 'heuristic']);

/** Answer of `GET /ip`. The first thirteen members are the customer's specification, part 2.8. */
export const ipAnswer = z
  .object({
    /** Canonical form; a v4-mapped address is answered as its v4 address. */
    ip: z.string(),
    is_valid: z.boolean(),
    version: z.union([z.literal(4), z.literal(6)]),
    is_private: z.boolean(),
    is_reserved: z.boolean(),
    is_loopback: z.boolean(),
    hostname: z.string().nullable(),
    /** ISO 3166-1 alpha-2; empty when unknown. */
    country: z.string(),
    /** Empty object when unknown. */
    location: z.union([place, z.strictObject({})]),
    city: z.string(),
    /** `AS15169`; empty when unknown. */
    asn: z.string(),
    /** 0 (checked, no signal) to 99; null when nothing was checked. */
    ip_risk: z.number().min(0).max(99).nullable(),
    /** 0 to 99.99; null when nothing was checked. */
    static_ip_score: z.number().min(0).max(99.99).nullable(),
    as_org: z.string(),
    /** Null where no source was asked that would know. */
    flags: z.object({
      hosting: z.boolean().nullable(),
      proxy_or_vpn: z.boolean().nullable(),
      tor_exit: z.boolean().nullable(),
      /** A relay that hides its users' addresses and keeps their region. */
      relay: z.boolean().nullable(),
    }),
    /** What the registry of the address says; null when it was not asked, did not answer or knows nothing. Members are null where it names none. */
    registration: z
      .object({
        company: z.string().nullable(),
        network_name: z.string().nullable(),
        abuse_email: z.string().nullable(),
        abuse_phone: z.string().nullable(),
      })
      .nullable(),
    risk_signals: z.array(z.object({ id: z.string(), weight: z.number().min(0).max(1), source: z.string() })),
    /** `maxmind` only when both figures are MaxMind's; null when there is none. */
    score_method: scoreMethod.nullable(),
    score_methods: z.object({ ip_risk: scoreMethod.nullable(), static_ip_score: scoreMethod.nullable() }),
    /** What was really asked; a source that is off, or has no business with a reserved address, is missing. */
    checked: z.array(
      z.object({
        source: z.string(),
        /** RFC 3339: when it was asked, or when its data is from; null for data without a date. */
        as_of: z.string().nullable(),
        ok: z.boolean(),
        error: z.enum(['timeout', 'failed', 'paused']).optional(),
      }),
    ),
  })
  .describe(ATTRIBUTION);

export type IpAnswer = z.output<typeof ipAnswer>;
