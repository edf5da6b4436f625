import { z } from 'zod';

interface FeatureText {
  /** The engine, with its own source if it names one: `searxng:wikidata`. */
  readonly source: string;
  readonly text: string;
}

interface Answer extends FeatureText {
  readonly url: string | null;
}

interface Infobox extends FeatureText {
  readonly title: string;
  readonly image_url: string | null;
  readonly links: readonly { readonly title: string; readonly url: string }[];
  readonly facts: readonly { readonly label: string; readonly value: string }[];
}

/** Features that a result page shows beside the organic results, in the source's own words. */
export interface SerpFeatures {
  readonly answers: readonly Answer[];
  readonly infoboxes: readonly Infobox[];
  readonly suggestions: readonly FeatureText[];
  readonly corrections: readonly FeatureText[];
}

/** Maximum of each kind, and of the links and facts of an infobox. Instances send a handful. */
const MOST = 20;

/** Keeps the usable items of a list: a feature in an unknown form must not discard the results. */
function listOf<Item extends z.ZodType>(item: Item) {
  return z.array(z.unknown()).catch([]).transform((all) =>
    all.slice(0, MOST).flatMap((each) => {
      const parsed = item.safeParse(each);
      return parsed.success ? [parsed.data] : [];
    }),
  ); // prettier-ignore
}

const engine = z.string().optional().catch(undefined);
const text = z.string().trim().min(1);
const link = z.httpUrl().nullable().catch(null);

/** Older instances send a text, newer ones an object. */
const answer = z.union([
  text.transform((said) => ({ answer: said, url: null, engine: undefined })),
  z.object({ answer: text, url: link.default(null), engine }),
]);
const infobox = z.object({
  infobox: text,
  content: z.string().catch(''),
  img_src: link.default(null),
  engine,
  urls: listOf(z.object({ title: text, url: z.httpUrl() })),
  attributes: listOf(z.object({ label: text, value: text })),
});
const answerPage = z.object({
  answers: listOf(answer),
  infoboxes: listOf(infobox),
  suggestions: listOf(text),
  corrections: listOf(text),
});

/** @param page the JSON of a result page of SearXNG */
export function readFeatures(name: string, page: unknown): SerpFeatures {
  const { answers, infoboxes, suggestions, corrections } = answerPage.parse(page);
  const sourceOf = (by: string | undefined): string => (by ? `${name}:${by}` : name);
  const said = (each: string): FeatureText => ({ source: name, text: each });
  return {
    answers: answers.map((each) => ({ source: sourceOf(each.engine), text: each.answer, url: each.url })),
    infoboxes: infoboxes.map(({ infobox: title, content, img_src: image, urls, attributes, engine: by }) => ({
      source: sourceOf(by),
      title,
      text: content,
      image_url: image,
      links: urls,
      facts: attributes,
    })),
    suggestions: suggestions.map(said),
    corrections: corrections.map(said),
  };
}
