/** What fields of inputs mean that go by the same name wherever they are; what a schema itself says comes first. */
const WORDS: Readonly<Record<string, string>> = {
  GSTIN: 'The registration number, of 15 characters. Exactly one of GSTIN, gst and gstin is needed.',
  aadhaar: 'The Aadhaar number: 12 digits with a right check digit.',
  business_name: 'The business to find in the ranking.',
  candidates: 'Pages that may link to the target: they are read before those that the search finds.',
  captcha: 'What the picture of the step before shows.',
  country_code: 'Two-letter code (ISO 3166-1), by which the source prefers places.',
  device: 'What the searcher uses.',
  expand: 'Also asks what follows the keyword and each letter of the alphabet.',
  expires_in: 'Seconds until the link ends. Whoever holds it can use it: keep it short.',
  file: 'The package: APK, AAB, XAPK or APKS, 200 MiB at most.',
  filters: 'Leaves leads out of what the source found.',
  'filters.has_phone': 'true: only those with a phone number; false: only those without.',
  'filters.has_website': 'true: only those with a website; false: only those without.',
  'filters.min_rating': 'Only those with this rating or a better one.',
  'filters.min_reviews': 'Only those with as many reviews or more.',
  'filters.operational': 'true: only those in business; false: only those said to be closed.',
  grid: 'Splits the area into as many tiles a side, each with up to 60 results of its own; needs radius_km.',
  gst: 'Another name of GSTIN, usual in forms.',
  gstin: 'Another name of GSTIN.',
  id: 'The id of the file at Drive. This or url is needed.',
  image: 'The picture: PNG, JPEG or WebP.',
  ip: 'The address, IPv4 or IPv6; the caller’s own unless given.',
  ips: 'Up to 100 addresses: a list, or a text with commas or spaces between them.',
  keyword: 'What is searched for.',
  language: 'Language code, for example en or pt-BR.',
  language_code: 'Language code, for example en or en-IN.',
  latitude: 'Of the centre, in degrees; negative is south.',
  limit: 'How many entries the answer has at most.',
  links: 'Pages to sort into tiers: a list, or one URL a line. This or target is needed.',
  location: 'A place in words, for example a town.',
  longitude: 'Of the centre, in degrees; negative is west.',
  max_results: 'How many places are looked at.',
  num: 'Results a page.',
  otp: 'The one-time password that the holder received.',
  page: 'Which page of the results, from 1.',
  page_token: 'next_page_token of the answer before: the page after it. The search must be the same.',
  pin: 'The postal code as the country writes it; for India a PIN of six digits or the name of a post office.',
  place_id: 'The id of the place at the source, to find it in the ranking.',
  query: 'What is searched for.',
  radius_km: 'Kilometres around the coordinates.',
  resourcekey: 'The resource key that older shared links carry.',
  scope: 'Of the whole domain, or of one page.',
  sessionId: 'From the answer to the first step.',
  size: 'Width in pixels.',
  strict: 'Also refuses a number whose check character is wrong.',
  target: 'The page or domain that is looked into.',
  viewer: 'The one IP address that may use the link; any unless given.',
}; // prettier-ignore

/** Where a name means something of its own. */
const OF_PATH: Readonly<Record<string, string>> = {
  '/gdplay/link url': 'A link to the file at Drive. This or id is needed.',
  '/gdplay/stream url': 'A link to the file at Drive. This or id is needed.',
  '/gdplay/thumbnail format': 'image for the picture itself, json for what is known of the file with the picture in base64.',
  '/gdplay/thumbnail url': 'A link to the file at Drive. This or id is needed.',
  '/glead/search keyword': 'Another name of query.',
  '/glead/search query': 'What kind of business. Exactly one of query and keyword is needed.',
  '/glead/search latitude': 'Of the centre, in degrees; needs longitude too.',
  '/glead/search longitude': 'Of the centre, in degrees; needs latitude too.',
  '/grank/grid business_name': 'The business to find. Exactly one of business_name and place_id is needed.',
  '/grank/grid latitude': 'Of the grid’s middle, in degrees; negative is south.',
  '/grank/grid longitude': 'Of the grid’s middle, in degrees; negative is west.',
  '/grank/grid max_results': 'How many places are looked at, at each point.',
  '/grank/grid place_id': 'The id of the business at the source. Exactly one of business_name and place_id is needed.',
  '/grank/grid radius_km': 'Kilometres from the middle to the outermost rows and columns.',
  '/grank/grid size': 'Points a side: 9, 25 or 49 in all, for the same price.',
  '/pincode country': 'Two-letter code: IN, or one of the countries that the answer to another code lists.',
  '/pincode format': 'provider for the source’s own JSON as it is, normal for one form whatever the source.',
  '/seo/authority domain': 'The domain to judge. Exactly one of url and domain is needed.',
  '/seo/authority url': 'The page to judge. Exactly one of url and domain is needed.',
  '/seo/keywords country': 'Two-letter code (ISO 3166-1), IN unless given.',
  '/seo/link_pyramid target': 'The page whose links are found and sorted. This or links is needed.',
  '/seo/serp country': 'Two-letter code (ISO 3166-1), IN unless given.',
  '/seo/serp latitude': 'Of the searcher, in degrees; needs longitude too.',
  '/seo/serp location': 'The town of the searcher.',
  '/seo/serp longitude': 'Of the searcher, in degrees; needs latitude too.',
  '/seo/spam domain': 'The domain to judge. Exactly one of url and domain is needed.',
  '/seo/spam target': 'The page that the judged one links to.',
  '/seo/spam url': 'The page to judge. Exactly one of url and domain is needed.',
}; // prettier-ignore

/** @param field with where it lies, for example `filters.min_rating` */
function wordsFor(path: string, field: string): string | undefined {
  return OF_PATH[`${path} ${field}`] ?? WORDS[field];
}

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

function describeMembers(path: string, schema: unknown, place = ''): unknown {
  if (!isObject(schema) || !isObject(schema['properties'])) return schema;
  const properties = Object.entries(schema['properties']).map(([name, field]) => {
    const inside = describeMembers(path, field, `${place}${name}.`);
    const description = wordsFor(path, place + name);
    return [name, isObject(inside) && description !== undefined ? { description, ...inside } : inside];
  });
  return { ...schema, properties: Object.fromEntries(properties) as Json };
}

const INSTANT = 'RFC 3339, with its offset from UTC.';

/** Times in answers. The specification fixes the form of `timestamp`, which has no zone of its own. */
const TIMES: Readonly<Record<string, string>> = {
  timestamp: 'When the answer was made: YYYY-MM-DD HH:MM:SS, always UTC.',
  as_of: `When the source was asked, or when its data is from: ${INSTANT}`,
  expires_at: `When it ends: ${INSTANT}`,
  fetched_at: `When the source was asked: ${INSTANT}`,
  modified_at: `When the file was last changed: ${INSTANT}`,
  seen_before: `When an earlier call saw the link: ${INSTANT}`,
  verified_at: `When it was verified: ${INSTANT}`,
};

/** A schema with words for each time in it, however deep, that says nothing of itself. */
function describeTimes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(describeTimes);
  if (!isObject(schema)) return schema;
  const inside = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, describeTimes(value)]));
  if (!isObject(inside['properties'])) return inside;
  const properties = Object.entries(inside['properties']).map(([name, field]) => {
    const description = TIMES[name];
    return [name, isObject(field) && description !== undefined ? { description, ...field } : field];
  });
  return { ...inside, properties: Object.fromEntries(properties) as Json };
}

/** The paths of a document with words for every field of an input, and every time in an answer, that its schema says nothing of. */
export function describeFields<Paths extends object>(paths: Paths): Paths {
  const described = Object.entries(paths).map(([path, methods]: [string, unknown]) => {
    if (!isObject(methods)) return [path, methods];
    return [path, Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, describeOperation(path, operation)]))];
  });
  return Object.fromEntries(described) as Paths;
}

/** An operation of the document, its fields described as {@link describeFields} says. */
function describeOperation(path: string, operation: unknown): unknown {
  if (!isObject(operation)) return operation;
  const { parameters, requestBody, responses } = operation;
  const described = Array.isArray(parameters)
    ? parameters.map((each: unknown) => {
        if (!isObject(each) || !isObject(each['schema'])) return each;
        const description = wordsFor(path, String(each['name']));
        return description === undefined ? each : { ...each, schema: { description, ...each['schema'] } };
      })
    : parameters;
  const content = isObject(requestBody) && isObject(requestBody['content']) ? requestBody['content'] : {};
  const bodies = Object.entries(content).map(([type, media]) => [
    type,
    isObject(media) ? { ...media, schema: describeMembers(path, media['schema']) } : media,
  ]);
  return {
    ...operation,
    ...(described !== undefined && { parameters: described }),
    ...(responses !== undefined && { responses: describeTimes(responses) }),
    ...(isObject(requestBody) && { requestBody: { ...requestBody, content: Object.fromEntries(bodies) as Json } }),
  };
}
